import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { needs } from '../../src/testing/needs.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';

const HOST = 'chat.example.com';
const EXAMPLES = new URL('../../docs/examples/', import.meta.url);

const daemon = await startDaemon({
  config: {
    server: { publicUrl: `https://${HOST}` },
    ratelimit: { enabled: true, requestsPerSecond: 0.01, burst: 20, trustedProxies: ['127.0.0.1'] },
  },
});

after(() => daemon[Symbol.asyncDispose]());

/** The certificate that clients believe. */
let ca = '';

/** The text with each part replaced, which it must have exactly once. */
function adapt(text: string, changes: Record<string, string>): string {
  let adapted = text;
  for (const [from, to] of Object.entries(changes)) {
    assert.equal(adapted.split(from).length, 2, `${from} occurs once`);
    adapted = adapted.replace(from, () => to);
  }
  return adapted;
}

interface Place {
  folder: string;
  port: number;
  /** Files with the certificate and its key. */
  tls: { cert: string; key: string };
}

/** A certificate for the host, signed by itself. */
async function makeCertificate(folder: string): Promise<Place['tls']> {
  const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  await promisify(execFile)('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert]);
  return { cert, key };
}

/** The example on another port, with another certificate, and with files in a temporary folder. */
const proxies = {
  async nginx({ folder, port, tls }: Place): Promise<ChildProcess> {
    const example = adapt(await readFile(new URL('nginx.conf', EXAMPLES), 'utf8'), {
      'listen 443 ssl;': `listen 127.0.0.1:${port} ssl;`,
      '/etc/letsencrypt/live/chat.example.com/fullchain.pem': tls.cert,
      '/etc/letsencrypt/live/chat.example.com/privkey.pem': tls.key,
      'http://127.0.0.1:7717': `http://127.0.0.1:${daemon.port}`,
    });
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = paths.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
    const file = path.join(folder, 'nginx.conf');
    const main = `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}`;
    await writeFile(file, `${main}\nhttp {\naccess_log off;\n${temporary}\n${example}}\n`);
    return spawn('nginx', ['-e', 'stderr', '-p', folder, '-c', file], { env: { PATH: SYSTEM_PATH } });
  },
  async caddy({ folder, port, tls }: Place): Promise<ChildProcess> {
    const example = adapt(await readFile(new URL('Caddyfile', EXAMPLES), 'utf8'), {
      '\nchat.example.com {\n': `\nchat.example.com:${port} {\n\tbind 127.0.0.1\n\ttls ${tls.cert} ${tls.key}\n`,
      '127.0.0.1:7717': `127.0.0.1:${daemon.port}`,
    });
    const file = path.join(folder, 'Caddyfile');
    await writeFile(file, `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${example}`);
    const env = { PATH: SYSTEM_PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    return spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { env });
  },
};

const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

interface Request {
  port: number;
  route: string;
  method?: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
  /** The client's address. */
  from?: string;
  /** The certificate that it believes; empty: none. */
  trusted?: string;
}

async function ask({ port, route, method = 'GET', headers = {}, body, from = '127.0.0.2', trusted = ca }: Request) {
  const given = { host: HOST, authorization: `Bearer ${daemon.token}`, ...headers };
  const all = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const sent = request({
    port,
    path: route,
    method,
    headers: all,
    host: '127.0.0.1',
    localAddress: from,
    agent: false,
    ca: trusted === '' ? [] : trusted,
    servername: HOST,
  });
  const [response] = (await once(sent.end(body), 'response')) as [IncomingMessage];
  return response;
}

async function read(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) text += chunk;
  return text;
}

async function whenReady(port: number, child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if (child.exitCode !== null) break;
    const response = await ask({ port, route: '/health', from: '127.0.0.3' }).catch(() => undefined); // not listening yet
    response?.resume();
    if (response?.statusCode === 200) return;
    await pause(25);
  }
  assert.fail(`the proxy does not answer: ${said}`);
}

for (const name of ['nginx', 'caddy'] as const)
  test(
    `the example for ${name} lets everything through that Headgate needs`,
    await needs(name, 'openssl'),
    async () => {
      await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-proxy-'));
      const port = await freePort();
      const tls = await makeCertificate(folder.path);
      ca = await readFile(tls.cert, 'utf8');
      const child = await proxies[name]({ folder: folder.path, port, tls });
      const closed = once(child, 'close');
      try {
        await whenReady(port, child);
        const origin = `https://${HOST}`;
        const socket = await openClient(`wss://127.0.0.1:${port}/`, { host: HOST, origin }, { ca, servername: HOST });
        await socket.call('connect', { ...CONNECT, auth: { token: daemon.token } });
        const { wsId } = (await socket.call('workstream.create', {})) as { wsId: string };
        const evil = { host: HOST, origin: 'https://evil.example' };
        await assert.rejects(openClient(`wss://127.0.0.1:${port}/`, evil, { ca, servername: HOST }), /403/);
        await assert.rejects(ask({ port, route: '/health', trusted: '' }), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });

        const login = await ask({
          port,
          route: '/v1/api/auth/login',
          method: 'POST',
          headers: { 'content-type': 'application/json', origin },
          body: JSON.stringify({ token: daemon.token }),
        });
        assert.equal(login.resume().statusCode, 200);
        const [cookie = ''] = login.headers['set-cookie'] ?? [];
        assert.match(cookie, /; HttpOnly; SameSite=Lax;.*; Secure$/);
        const [pair = ''] = cookie.split(';');
        const own = await ask({ port, route: '/v1/api/auth/whoami', headers: { authorization: '', cookie: pair } });
        assert.equal(own.resume().statusCode, 200, 'the cookie is a login');

        const stream = await ask({ port, route: `/v1/api/events?ws_id=${wsId}` });
        assert.equal(stream.statusCode, 200);
        await socket.call('workstream.send', { wsId, message: 'say hello', idempotencyKey: `to ${name}` });
        let streamed = '';
        for await (const chunk of stream) {
          streamed += chunk; // while the stream is open: buffered, it would come at its end, which never comes
          if (streamed.includes('say hello')) break;
        }
        socket.socket.terminate();

        const form = new FormData();
        form.set('file', new File([Buffer.alloc(20 * 1_048_576 - 1, 'text\n')], 'large.txt'));
        const encoded = new Response(form);
        const upload = await ask({
          port,
          route: `/v1/api/workstreams/${wsId}/attachments`,
          method: 'POST',
          headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
          body: Buffer.from(await encoded.arrayBuffer()),
        });
        const answer = await read(upload);
        assert.ok(upload.statusCode === 200 || !/<html/i.test(answer), `${upload.statusCode} ${answer}`);
        assert.notEqual(upload.statusCode, 413, 'the proxy accepts what Headgate accepts');

        const statuses: (number | undefined)[] = [];
        const from = name === 'nginx' ? '127.0.0.5' : '127.0.0.6';
        for (let n = 0; n < 21; n += 1) {
          const headers = { 'x-forwarded-for': `192.0.2.${n}` };
          const response = await ask({ port, route: '/v1/api/workstreams', from, headers });
          response.resume();
          statuses.push(response.statusCode);
        }
        assert.deepEqual([statuses[0], statuses.at(-1)], [200, 429], 'a client cannot claim other addresses');
        const other = await ask({ port, route: '/v1/api/workstreams', from: '127.0.0.7' });
        assert.equal(other.resume().statusCode, 200, 'each client has its own limit');
      } finally {
        child.kill('SIGKILL');
        await closed;
      }
    },
  );
