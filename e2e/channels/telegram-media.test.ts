import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { closeServer, listen } from '../../src/listen.ts';
import { readRows } from '../support/channels/stored-rows.ts';
import { setStage } from '../support/channels/telegram-stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Serves files; `/moved` redirects, and `/slow` does not answer the first request, which resolves `slow`. */
async function serveFiles() {
  const slow = Promise.withResolvers<void>();
  let requests = 0;
  const server = createServer((request, response) => {
    if (request.url === '/moved') return void response.writeHead(302, { location: '/dot.png' }).end();
    if (request.url === '/slow' && requests++ === 0) return slow.resolve();
    if (request.url === '/dot.png' || request.url === '/slow')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(PNG);
    if (request.url === '/a%20list.csv') return void response.writeHead(200, { 'content-type': 'text/csv' }).end('a,b');
    response.writeHead(404).end();
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  return { root: `http://127.0.0.1:${port}`, slow, [Symbol.asyncDispose]: () => closeServer(server) };
}

async function setUp(config?: object) {
  const files = await serveFiles();
  const stage = await setStage({ config: config ?? { egress: { privateHosts: ['127.0.0.1'] } } });
  stage.model.when('hi', say('hello'));
  stage.ada.says('hi');
  await stage.ada.chat.until(({ text }) => text === 'hello');
  const client = await stage.daemon.client();
  let key = 0;
  return {
    ...stage,
    root: files.root,
    slow: files.slow,
    send: (message: string, path: string) =>
      client.call('send', {
        ...{ to: '101', provider: 'telegram', message, mediaUrl: `${files.root}${path}` },
        idempotencyKey: `send-${key++}`,
      }),
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]();
      await files[Symbol.asyncDispose]();
    },
  };
}

test('the file of a message is sent as photo or document by its bytes, with the text as caption or behind it', async () => {
  await using stage = await setUp();
  const { ada, daemon } = stage;
  await stage.send('a **dot**', '/dot.png');
  const photo = await ada.chat.until(({ file }) => file?.kind === 'photo');
  assert.equal(photo.text, 'a dot');
  assert.ok(photo.file && 'bytes' in photo.file && photo.file.bytes.equals(PNG));
  const long = 'x'.repeat(1_025);
  await stage.send(long, '/a%20list.csv');
  const document = await ada.chat.until(({ file }) => file?.kind === 'document');
  assert.ok(document.file && 'bytes' in document.file);
  const { fileName, mimeType } = document.file;
  assert.deepEqual([document.text, fileName, mimeType], ['', 'a list.csv', 'text/csv']);
  await ada.chat.until(({ text }) => text === long);
  await daemon.stop();
  assert.deepEqual(
    readRows(daemon.home).chunks.map(({ chunk, state, media_url: url }) => [chunk, state, url !== null]),
    [
      [0, 'accepted', false],
      [0, 'accepted', true],
      [0, 'accepted', true],
      [1, 'accepted', false],
    ],
  );
});

test('a file that cannot be loaded is sent as its address, with the reason', async () => {
  await using stage = await setUp();
  const { ada, root } = stage;
  await stage.send('gone', '/gone.png');
  await ada.chat.until(({ text }) => text === `gone\n\n${root}/gone.png\n\n(I could not load the file: HTTP 404)`);
  await stage.send('moved', '/moved');
  await ada.chat.until(({ text }) => text.startsWith(`moved\n\n${root}/moved\n\n(I could not load the file: `));
});

test('a file at a private address is not loaded', async () => {
  await using stage = await setUp({});
  await stage.send('secret', '/dot.png');
  await stage.ada.chat.until(({ text }) => text.endsWith('(I could not load the file: 127.0.0.1 is private)'));
});

test('a file is sent once, even if the daemon is killed while it is loaded', async () => {
  await using stage = await setUp();
  const { ada, daemon, slow } = stage;
  await stage.send('later', '/slow');
  await slow.promise;
  await daemon.kill9();
  await daemon.restart();
  await ada.chat.until(({ file }) => file?.kind === 'photo');
  await daemon.stop();
  assert.deepEqual(
    ada.chat.sent.map(({ text, file }) => [text, file?.kind]),
    [
      ['hello', undefined],
      ['later', 'photo'],
    ],
  );
});
