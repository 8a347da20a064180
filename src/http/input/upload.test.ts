import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ReceivedFile } from '../../gateway/attachments/staged-files.ts';
import { readUpload } from './upload.ts';

const collect = async ({ fileName, bytes }: ReceivedFile): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return `${fileName}: ${Buffer.concat(chunks)}`;
};

/** A server that reads uploads one after another, and how each ended. */
async function setUp(receive: (file: ReceivedFile) => Promise<string> = collect, { keepAlive = false } = {}) {
  const outcomes: string[] = [];
  let told = Promise.withResolvers<void>();
  const server = createServer(async (req, res) => {
    try {
      outcomes.push(await readUpload(req, receive));
    } catch (error) {
      outcomes.push(error instanceof GatewayError ? `${error.code}: ${error.message}` : String(error));
    }
    told.resolve();
    told = Promise.withResolvers();
    if (!keepAlive) res.setHeader('connection', 'close');
    res.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    outcomes,
    next: () => told.promise,
    async post(body: BodyInit, headers: HeadersInit = {}) {
      await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers });
      return outcomes.at(-1);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const FORM_START = `--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${'piece '.repeat(1_000)}`;

/** The head of a form with a declared length of `bytes`, and the beginning of its file. */
function begin(port: number, bytes: number) {
  const socket = connect(port, '127.0.0.1');
  const type = 'multipart/form-data; boundary=x';
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${bytes}\r\n\r\n${FORM_START}`);
  return socket;
}

test('after an upload was refused, its connection carries the next request', async () => {
  const full = () => Promise.reject(new GatewayError('UNAVAILABLE', 'the disk is full'));
  await using server = await setUp(full, { keepAlive: true });
  const rest = `${'a'.repeat(5_000_000)}\r\n--x--\r\n`;
  const socket = begin(server.port, FORM_START.length + rest.length);
  await server.next();
  socket.write(rest);
  const answers = socket.setEncoding('utf8')[Symbol.asyncIterator]();
  assert.match((await answers.next()).value ?? '', /^HTTP\/1.1 200/);
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
  assert.match((await answers.next()).value ?? '', /^HTTP\/1.1 200/);
  assert.deepEqual(server.outcomes, [
    'UNAVAILABLE: the disk is full',
    'INVALID_REQUEST: Send multipart/form-data with a field named file',
  ]);
});

const formOf = (...fields: [string, string | File][]) => {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
};
const file = (text: string, name = 'a.txt') => new File([text], name);

/** A file of a form up to the end of its text, without the boundary that ends it. */
const partOf = (field: string, text: string) =>
  `--x\r\nContent-Disposition: form-data; name="${field}"; filename="a"\r\n\r\n${text}`;

test('the first file in the field `file` is used, whatever surrounds it', async () => {
  await using server = await setUp();
  const form = formOf(['note', 'x'], ['other', file('no')], ['file', file('yes')], ['file', file('second')]);
  assert.equal(await server.post(formOf(['file', file('naïve 🐈', '写真.txt')])), '写真.txt: naïve 🐈');
  assert.equal(await server.post(formOf(['note', 'x'], ['file', file('yes')], ['file', file('second')])), 'a.txt: yes');
  assert.equal(await server.post(form), 'a.txt: yes');
});

test('a form without the file and a body that is not a form have different errors', async () => {
  await using server = await setUp();
  const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
  const refusals = [
    await server.post(formOf(['note', 'x'])),
    await server.post('{}', { 'content-type': 'application/json' }),
    await server.post('--x', { 'content-type': 'multipart/form-data' }),
    await server.post('no boundary in here', multipart),
    await server.post(partOf('file', 'half'), multipart),
    await server.post(partOf('other', 'half'), multipart),
    await server.post(`${partOf('file', 'whole')}\r\n${partOf('file', 'half')}`, multipart),
  ];
  assert.deepEqual(refusals, [
    'INVALID_REQUEST: Missing form field: file',
    'INVALID_REQUEST: Send multipart/form-data with a field named file',
    'INVALID_REQUEST: Send multipart/form-data with a field named file',
    'INVALID_REQUEST: The request body ended early',
    'INVALID_REQUEST: The request body ended early',
    'INVALID_REQUEST: The request body ended early',
    'INVALID_REQUEST: The request body ended early',
  ]);
});

test('a file of a form that ends early after it is not received as whole', async () => {
  const received: string[] = [];
  await using server = await setUp(async (file) => {
    received.push(await collect(file).catch((error: Error) => error.message));
    return 'received';
  });
  const note = '\r\n--x\r\nContent-Disposition: form-data; name="note"\r\n\r\nhalf';
  await server.post(`${partOf('file', 'whole')}${note}`, { 'content-type': 'multipart/form-data; boundary=x' });
  assert.deepEqual(
    [received, server.outcomes],
    [['The request body ended early'], ['INVALID_REQUEST: The request body ended early']],
  );
});

test('a declared length above the limit is refused before the body is read', async () => {
  await using server = await setUp(() => assert.fail('it was read'));
  const next = server.next();
  const socket = begin(server.port, 2 * LIMITS.attachmentBytes);
  await next;
  socket.destroy();
  assert.deepEqual(server.outcomes, ['PAYLOAD_TOO_LARGE: The file is too large: at most 20 MiB']);
});

test('an error of the receiver is the answer, and the rest is not read', async () => {
  const wrong = new Error('not this one');
  await using server = await setUp(async ({ bytes }) => {
    for await (const _ of bytes) throw wrong;
    return 'empty';
  });
  const next = server.next();
  const socket = begin(server.port, 100_000);
  await next;
  socket.destroy();
  assert.deepEqual(server.outcomes, ['Error: not this one']);
});

test('a client that disconnects during the upload ends the reading', async () => {
  const began = Promise.withResolvers<void>();
  await using server = await setUp(async ({ bytes }) => {
    for await (const _ of bytes) began.resolve();
    return 'whole';
  });
  const next = server.next();
  const socket = begin(server.port, 100_000);
  await began.promise;
  socket.destroy();
  await next;
  assert.deepEqual(server.outcomes, ['INVALID_REQUEST: The request body ended early']);
});
