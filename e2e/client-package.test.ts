import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { launched } from './browser.ts';
import { startDaemon } from './daemon.ts';
import { bundleUpToDate } from './daemon-process.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** A program of somebody else's, without Node's types. The lines that are marked must not compile. */
const PROGRAM = `
import { createGatewayClient, RequestError, type Result } from 'headgate/client';
import { createHttpClient, endpoints } from 'headgate/http';
const client = createGatewayClient({ url: 'ws://h', client: { name: 'n', version: '1', mode: 'web' } });
const { workstreams }: Result<'workstream.list'> = await client.call('workstream.list', {});
const names: string[] = workstreams.map(({ name }) => name);
// @ts-expect-error there is no such method
client.call('workstream.surprise', {});
// @ts-expect-error a key is required
client.call('chat.send', { sessionKey: 'main', message: names.join() });
client.on('tick', ({ ts }) => new Date(ts));
const sent = await createHttpClient({ baseUrl: 'http://h' }).call(endpoints.workstream.send, { message: 'm', ws_id: 'w' });
const status: 'ok' | 'busy' = sent.status;
// @ts-expect-error a file is no JSON: it is downloaded
createHttpClient({ baseUrl: 'http://h' }).call(endpoints.attachment.content, { ws_id: 'w', attachment_id: 'a' });
// @ts-expect-error there is no such field
sent.surprise;
export const codeOf = (error: unknown) => (error instanceof RequestError ? error.code : status);
`;

const OPTIONS = {
  strict: true,
  noEmit: true,
  module: 'nodenext',
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  types: [],
  skipLibCheck: true,
};

test('a TypeScript program finds the types of both clients', async () => {
  await bundleUpToDate();
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-consumer-'));
  const place = (name: string) => path.join(folder.path, name);
  await run('mkdir', ['-p', place('node_modules')]);
  await symlink(ROOT, place('node_modules/headgate'));
  await writeFile(place('package.json'), '{"type":"module"}');
  await writeFile(place('tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, include: ['program.ts'] }));
  await writeFile(place('program.ts'), PROGRAM);
  const { stdout } = await run(path.join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder.path]).catch((error) => error);
  assert.equal(stdout, '');
});

test('what the package exports is packed with it', async () => {
  await bundleUpToDate();
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT });
  const packed = new Set(JSON.parse(stdout)[0].files.map((file: { path: string }) => file.path));
  const { exports } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  const targets = [...JSON.stringify(exports).matchAll(/"\.\/((?:dist|protocol)\/[^"*]+\.\w+)"/g)].map(
    ([, file]) => file,
  );
  assert.equal(targets.length, 4);
  assert.deepEqual(
    [...targets, 'protocol/generated/asyncapi.json', 'docs/examples/ask.mjs'].filter((file) => !packed.has(file)),
    [],
  );
});

test('a page of another site speaks to the daemon with the file that the package ships', async () => {
  await using daemon = await startDaemon();
  const script = await readFile(path.join(ROOT, 'dist/clients/client.js'));
  const site = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<title>A page</title>');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const page = await (await launched()).newPage();
  try {
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const answer = await page.evaluate(
      `import('/client.js').then(async ({ createGatewayClient }) => {
        const client = createGatewayClient({
          url: '${daemon.wsUrl}', token: '${daemon.token}', client: { name: 'page', version: '1', mode: 'web' },
        });
        const { protocol } = await client.connect();
        const { status } = await client.call('health');
        client.close();
        return { protocol, status };
      })`,
    );
    assert.deepEqual(answer, { protocol: 2, status: 'ok' });
  } finally {
    await page.close();
    site.close();
  }
});
