import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
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
}

/** The example without TLS, on another port, and with files in a temporary folder. */
const proxies = {
  async nginx({ folder, port }: Place): Promise<ChildProcess> {
    const example = adapt(await readFile(new URL('nginx.conf', EXAMPLES), 'utf8'), {
      'listen 443 ssl;': `listen 127.0.0.1:${port};`,
      '  ssl_certificate /etc/letsencrypt/live/chat.example.com/fullchain.pem;\n': '',
      '  ssl_certificate_key /etc/letsencrypt/live/chat.example.com/privkey.pem;\n': '',
      'http://127.0.0.1:7717': `http://127.0.0.1:${daemon.port}`,
    });
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = paths.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
    const file = path.join(folder, 'nginx.conf');
    const main = `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}`;
    await writeFile(file, `${main}\nhttp {\naccess_log off;\n${temporary}\n${example}}\n`);
    return spawn('nginx', ['-e', 'stderr', '-p', folder, '-c', file], { env: { PATH: SYSTEM_PATH } });
  },
  async caddy({ folder, port }: Place): Promise<ChildProcess> {
    const example = adapt(await readFile(new URL('Caddyfile', EXAMPLES), 'utf8'), {
      '\nchat.example.com {\n': `\nhttp://chat.example.com:${port} {\n\tbind 127.0.0.1\n`,
      '127.0.0.1:7717': `127.0.0.1:${daemon.port}`,
    });
    const file = path.join(folder, 'Caddyfile');
    await writeFile(file, `{\n\tadmin off\n\tauto_https off\n}\n${example}`);
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
}

async function ask({ port, route, method = 'GET', headers = {}, body, from = '127.0.0.2' }: Request) {
  const all = { host: HOST, authorization: `Bearer ${daemon.token}`, ...headers };
  const sent = request({
    port,
    path: route,
    method,
    headers: all,
    host: '127.0.0.1',
    localAddress: from,
    agent: false,
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
  test(`the example for ${name} lets everything through that Headgate needs`, await needs(name), async () => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-proxy-'));
    const port = await freePort();
    const child = await proxies[name]({ folder: folder.path, port });
    const closed = once(child, 'close');
    try {
      await whenReady(port, child);
      const origin = `https://${HOST}`;
      const socket = await openClient(`ws://127.0.0.1:${port}/`, { host: HOST, origin });
      await socket.call('connect', { ...CONNECT, auth: { token: daemon.token } });
      const { wsId } = (await socket.call('workstream.create', {})) as { wsId: string };
      await assert.rejects(openClient(`ws://127.0.0.1:${port}/`, { host: HOST, origin: 'https://evil.example' }));

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
  });
