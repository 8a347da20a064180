import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { closeServer, listen } from '../../../src/listen.ts';
import { WRONG_CERTIFICATE } from './wrong-certificate.ts';

/** Something that is no Bot API. */
export interface BadRoot {
  name: string;
  url: string;
  /** What `channel.list` says of it. */
  state: 'connecting' | 'error';
  why: RegExp;
}

/** Servers that fail in different ways, and one to which the first of them redirects. */
export async function startBadRoots() {
  const reached: string[] = [];
  const elsewhere = await serve((request, response) => {
    reached.push(request.url ?? '');
    response.end('{"ok":true,"result":{}}');
  });
  const redirecting = await serve((request, response) =>
    response.writeHead(302, { location: `${elsewhere.url}${request.url}` }).end(),
  );
  const moved = await serve((request, response) =>
    response.writeHead(307, { location: `${elsewhere.url}${request.url}` }).end(),
  );
  const gone = await serve((_, response) => response.end());
  await gone.close();
  const answering = (status: number, body: string) =>
    serve((request, response) => {
      request.resume();
      response.writeHead(status, { 'x-echo': request.url ?? '' }).end(body.replace('{url}', request.url ?? ''));
    });
  const notFound = await answering(404, '{"ok":false,"error_code":404,"description":"Not Found: {url}"}');
  const unauthorized = await answering(401, '{"ok":false,"error_code":401,"description":"Unauthorized {url}"}');
  const page = await answering(404, '<html>There is no {url}</html>');
  const forbidden = await answering(403, '{"ok":false,"error_code":403,"description":"Forbidden: {url}"}');
  const gateway = await answering(502, '<html>upstream http://telegram{url}</html>');
  const secure = createSecureServer(WRONG_CERTIFICATE, (request, response) => {
    reached.push(request.url ?? '');
    response.end();
  });
  const securePort = await listen(secure, { host: '127.0.0.1', port: 0 });
  const roots: BadRoot[] = [
    { name: 'a redirect (302)', url: redirecting.url, state: 'connecting', why: /redirect|usable answer/ },
    { name: 'a redirect (307)', url: moved.url, state: 'connecting', why: /redirect|usable answer/ },
    { name: 'nothing', url: gone.url, state: 'connecting', why: /Could not reach Telegram \(ECONNREFUSED\)/ },
    { name: 'a refused token (404)', url: notFound.url, state: 'error', why: /does not accept the bot token/ },
    { name: 'a refused token (401)', url: unauthorized.url, state: 'error', why: /does not accept the bot token/ },
    { name: 'a page (404)', url: page.url, state: 'connecting', why: /HTTP 404/ },
    { name: 'a refusal with the address', url: forbidden.url, state: 'connecting', why: /Forbidden/ },
    { name: 'a bad gateway (502)', url: gateway.url, state: 'connecting', why: /HTTP 502/ },
    {
      name: 'a certificate of another host',
      url: `https://localhost:${securePort}`,
      state: 'connecting',
      why: /ERR_TLS_CERT_ALTNAME_INVALID/,
    },
    { name: 'a host that does not exist', url: 'http://telegram.invalid', state: 'connecting', why: /./ },
  ];
  return {
    roots,
    /** Paths of requests that arrived where none may. */
    reached,
    async [Symbol.asyncDispose]() {
      for (const { close } of [elsewhere, redirecting, moved, notFound, unauthorized, page, forbidden, gateway])
        await close();
      await closeServer(secure);
    },
  };
}

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) };
}
