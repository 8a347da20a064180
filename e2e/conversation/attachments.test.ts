import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Attachment } from '../../protocol/stream-events.ts';
import { readBody } from '../support/clients/read-body.ts';
import type { DaemonUnderTest, JsonAnswer } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
model.onRequest(({ messages }) => (messages.length > 0 ? say('seen') : undefined));

const PNG_HEAD = Buffer.from('89504e470d0a1a0a', 'hex');
/** Bytes that start like an image. */
const png = (size = 64) => Buffer.concat([PNG_HEAD, Buffer.alloc(size - PNG_HEAD.length, 7)]);

const placeOf = (wsId: string, rest = '') => `/v1/api/workstreams/${wsId}/attachments${rest}`;

async function upload(wsId: string, bytes: Buffer, { name = 'cat.png', headers = {} } = {}): Promise<JsonAnswer> {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(bytes)], name));
  const response = await daemon.fetch(placeOf(wsId), { method: 'POST', body: form, headers });
  return { status: response.status, body: await readBody(response), headers: response.headers };
}

async function uploaded(wsId: string, bytes: Buffer, name = 'cat.png'): Promise<Attachment> {
  const { status, body } = await upload(wsId, bytes, { name });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const newWorkstream = async (client: GatewayClient) => (await client.call('workstream.create', {})).wsId;
const ended = (client: GatewayClient, runId = '') => client.call('agent.wait', { runId, timeoutMs: 60_000 });
const filesOf = ({ home }: DaemonUnderTest): Promise<string[]> =>
  readdir(path.join(home, 'attachments')).catch(() => []); // created with the first attachment

/** The parts of the last user message sent to the model. */
const lastParts = () => model.requests.at(-1)?.body.messages.findLast(({ role }) => role === 'user')?.content;
const imagePart = (bytes: Buffer) => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${bytes.toString('base64')}` },
});

const inline = (bytes: Buffer, more: object = {}) => ({
  type: 'image',
  mimeType: 'image/png',
  fileName: 'cat.png',
  content: bytes.toString('base64'),
  ...more,
});

test('an image in a frame reaches the model, and history names it without its bytes', async () => {
  const client = await daemon.client();
  const wsId = await newWorkstream(client);
  const bytes = png();
  const { runId } = await client.call('chat.send', {
    sessionKey: wsId,
    message: 'what is this?',
    attachments: [inline(bytes)],
    idempotencyKey: 'inline-1',
  });
  await ended(client, runId);
  assert.deepEqual(lastParts(), [imagePart(bytes), { type: 'text', text: 'what is this?' }]);
  const { messages } = await client.call('chat.history', { sessionKey: wsId });
  const [, attachment] = messages[0]?.content ?? [];
  const id = attachment?.type === 'attachment' ? attachment.attachmentId : '';
  assert.deepEqual(attachment, {
    ...{ type: 'attachment', attachmentId: id, fileName: 'cat.png', mimeType: 'image/png', sizeBytes: 64 },
  });
  const content = await daemon.fetch(placeOf(wsId, `/${id}/content`));
  assert.deepEqual(Buffer.from(await content.arrayBuffer()), bytes);
});

test('an uploaded image can be sent by id over HTTP and WebSocket, is used once, and is served with its type', async () => {
  const client = await daemon.client();
  const wsId = await newWorkstream(client);
  const first = await uploaded(wsId, png(2_000_000), '写真 1.png');
  const second = await uploaded(wsId, Buffer.from('a,b\n1,2\n'), 'table.csv');
  assert.deepEqual((await daemon.get(placeOf(wsId))).body, { attachments: [first, second] });
  const ids = { attachment_ids: [second.attachment_id, first.attachment_id, 'att_unknown'] };
  const sent = await daemon.post('/v1/api/send', { ws_id: wsId, message: 'compare', ...ids });
  assert.deepEqual(sent.body, {
    status: 'ok',
    run_id: sent.body.run_id,
    attached_ids: [second.attachment_id, first.attachment_id],
    dropped_attachment_ids: ['att_unknown'],
  });
  await ended(client, sent.body.run_id);
  assert.deepEqual(lastParts(), [
    { type: 'text', text: 'The user attached the file "table.csv" (text/plain, 8 bytes):\n\na,b\n1,2\n' },
    imagePart(png(2_000_000)),
    { type: 'text', text: 'compare' },
  ]);
  assert.deepEqual((await daemon.get(placeOf(wsId))).body, { attachments: [] });
  const again = { sessionKey: wsId, message: 'again', attachmentIds: [first.attachment_id], idempotencyKey: 'again' };
  await assert.rejects(client.call('chat.send', again), { code: 'NOT_FOUND' });
  const third = await uploaded(wsId, png(), 'third.png');
  const params = { sessionKey: wsId, message: '', attachmentIds: [third.attachment_id], idempotencyKey: 'by-id' };
  const { runId } = await client.call('chat.send', params);
  await ended(client, runId);
  assert.deepEqual(await client.call('chat.send', params), { runId, status: 'ok' });
  const { headers } = await daemon.fetch(placeOf(wsId, `/${first.attachment_id}/content`));
  assert.deepEqual(
    ['content-type', 'content-disposition', 'x-content-type-options', 'cache-control'].map((name) => headers.get(name)),
    [
      'image/png',
      `inline; filename="__ 1.png"; filename*=UTF-8''%E5%86%99%E7%9C%9F%201.png`,
      'nosniff',
      'private, max-age=31536000, immutable',
    ],
  );
});

test('Repeating an upload with the same `Idempotency-Key` must return the same attachment; another file with that key answers 409', async () => {
  const wsId = await newWorkstream(await daemon.client());
  const under = (key: string, bytes: Buffer) => upload(wsId, bytes, { headers: { 'idempotency-key': key } });
  const [first, again, other] = [await under('k', png()), await under('k', png()), await under('k', png(65))];
  assert.deepEqual([first.status, again.body, other.status], [200, first.body, 409]);
  assert.deepEqual((await daemon.get(placeOf(wsId))).body, { attachments: [first.body] });
  assert.equal((await under('k'.repeat(257), png())).status, 400);
});

test('Without `attachment_ids` a message must take all waiting attachments; with an empty list it takes none', async () => {
  const client = await daemon.client();
  const wsId = await newWorkstream(client);
  const { attachment_id } = await uploaded(wsId, png());
  const none = await daemon.post('/v1/api/send', { ws_id: wsId, message: 'none', attachment_ids: [] });
  assert.equal(none.body.attached_ids, undefined);
  await ended(client, none.body.run_id);
  const all = await daemon.post('/v1/api/send', { ws_id: wsId });
  assert.deepEqual(all.body.attached_ids, [attachment_id]);
  await ended(client, all.body.run_id);
});

test('the largest inline attachment fits into a frame; one byte more gets an error that names the upload route', async () => {
  const client = await daemon.client();
  const wsId = await newWorkstream(client);
  const largest = png(LIMITS.inlineAttachmentBytes);
  const { runId } = await client.call('chat.send', {
    sessionKey: wsId,
    message: 'm'.repeat(60 * 1024),
    attachments: [inline(largest)],
    idempotencyKey: 'largest',
  });
  await ended(client, runId);
  assert.deepEqual(lastParts(), [imagePart(largest), { type: 'text', text: 'm'.repeat(60 * 1024) }]);
  const over = { sessionKey: wsId, message: 'more', idempotencyKey: 'over' };
  await assert.rejects(
    client.call('chat.send', { ...over, attachments: [inline(png(LIMITS.inlineAttachmentBytes + 1))] }),
    {
      code: 'INVALID_REQUEST',
      message:
        `attachment cat.png: exceeds size limit (${LIMITS.inlineAttachmentBytes} bytes); upload larger ones with ` +
        'POST /v1/api/workstreams/{ws_id}/attachments and name them in attachmentIds',
    },
  );
  assert.equal((await upload(wsId, png(LIMITS.inlineAttachmentBytes + 1))).status, 200);
});

test('If an inline attachment is not a base64 image, the error must name it and nothing must be sent', async () => {
  const client = await daemon.client();
  const wsId = await newWorkstream(client);
  const before = await filesOf(daemon);
  const refused: [object, string | RegExp][] = [
    [inline(png(), { mimeType: 'text/plain' }), 'attachment cat.png: only image/* supported'],
    [inline(Buffer.from('no image')), 'attachment cat.png: only image/* supported (PNG, JPEG, GIF or WebP)'],
    [inline(png(), { content: 'abc' }), 'attachment cat.png: invalid base64 content'],
    [inline(png(), { content: '!!!!' }), 'attachment cat.png: invalid base64 content'],
    [inline(png(), { content: 7 }), /content must be base64 string/],
  ];
  for (const [attachment, message] of refused) {
    const params = { sessionKey: wsId, message: 'x', attachments: [attachment], idempotencyKey: randomUUID() };
    await assert.rejects(client.call('chat.send', params as never), { code: 'INVALID_REQUEST', message });
  }
  const { messages } = await client.call('chat.history', { sessionKey: wsId });
  assert.deepEqual([messages, await filesOf(daemon)], [[], before]);
});

test('A refused upload must give the reason and leave nothing behind', async () => {
  const client = await daemon.client();
  const wsId = await newWorkstream(client);
  const before = await filesOf(daemon);
  const answers = {
    empty: await upload(wsId, Buffer.alloc(0)),
    binary: await upload(wsId, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, ...new Array(64).fill(0)])),
    bigImage: await upload(wsId, png(LIMITS.imageBytes + 1)),
    bigText: await upload(wsId, Buffer.alloc(LIMITS.attachmentBytes + 1, 'a')),
    noForm: await daemon.post(placeOf(wsId), { file: 'x' }),
    unknown: await upload('f'.repeat(32), png()),
  };
  const types = 'Only images (PNG, JPEG, GIF, WebP), PDFs, recordings, videos and UTF-8 text can be attached';
  assert.deepEqual(
    Object.entries(answers).map(([name, { status, body }]) => [name, status, body.error]),
    [
      ['empty', 400, 'The file is empty'],
      ['binary', 400, types],
      ['bigImage', 413, 'The image is too large: at most 6 MiB'],
      ['bigText', 413, 'The file is too large: at most 20 MiB'],
      ['noForm', 400, 'Send multipart/form-data with a field named file'],
      ['unknown', 404, 'Unknown workstream'],
    ],
  );
  assert.deepEqual(await filesOf(daemon), before);
  for (let i = 0; i < LIMITS.pendingAttachments; i += 1) await uploaded(wsId, png());
  const eleventh = await upload(wsId, png());
  assert.deepEqual([eleventh.status, (await filesOf(daemon)).length], [409, before.length + 10]);
});

test('An interrupted upload must leave no file', async () => {
  const client = await daemon.client();
  const wsId = await newWorkstream(client);
  const before = await filesOf(daemon);
  const headers = {
    authorization: `Bearer ${daemon.token}`,
    'content-type': 'multipart/form-data; boundary=x',
    'content-length': 1_000_000,
  };
  const sending = request(new URL(placeOf(wsId), daemon.url), { method: 'POST', headers });
  sending.on('error', () => undefined);
  sending.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello');
  const there = async () => (await filesOf(daemon)).length;
  while ((await there()) === before.length) await new Promise(setImmediate);
  sending.destroy();
  while ((await there()) > before.length) await new Promise(setImmediate);
  assert.deepEqual((await daemon.get(placeOf(wsId))).body, { attachments: [] });
});

test('An attachment must be served only to its uploader until it is sent, then to every reader of the workstream', async () => {
  const client = await daemon.client();
  const [wsId, other] = [await newWorkstream(client), await newWorkstream(client)];
  const { attachment_id: id } = await uploaded(wsId, png());
  const [reader, writer] = await Promise.all(
    (['read', 'write'] as const).map((scope) => client.call('token.create', { name: scope, scope })),
  );
  const as = (token = '') => ({ headers: { authorization: `Bearer ${token}` } });
  const statusOf = async (route: string, init?: RequestInit) => (await daemon.fetch(route, init)).status;
  const content = placeOf(wsId, `/${id}/content`);
  assert.deepEqual(
    {
      nobody: await statusOf(content, as('nonsense')),
      elsewhere: await statusOf(placeOf(other, `/${id}/content`)),
      pendingOfAnother: await statusOf(content, as(reader?.token)),
      readerUploads: await statusOf(placeOf(wsId), { method: 'POST', body: new FormData(), ...as(reader?.token) }),
      readerRemoves: await statusOf(placeOf(wsId, `/${id}`), { method: 'DELETE', ...as(reader?.token) }),
      anotherRemoves: await statusOf(placeOf(wsId, `/${id}`), { method: 'DELETE', ...as(writer?.token) }),
    },
    { nobody: 401, elsewhere: 404, pendingOfAnother: 404, readerUploads: 403, readerRemoves: 403, anotherRemoves: 404 },
  );
  const foreign = await daemon.post('/v1/api/send', { ws_id: other, message: 'mine?', attachment_ids: [id] });
  assert.deepEqual(foreign.body.dropped_attachment_ids, [id]);
  const { body } = await daemon.post('/v1/api/send', { ws_id: wsId, message: 'mine', attachment_ids: [id] });
  await ended(client, body.run_id);
  assert.deepEqual(
    [await statusOf(content, as(reader?.token)), await statusOf(placeOf(wsId, `/${id}`), { method: 'DELETE' })],
    [200, 409],
  );
  const pending = await uploaded(wsId, png());
  assert.equal(await statusOf(placeOf(wsId, `/${pending.attachment_id}`), { method: 'DELETE' }), 200);
  assert.equal((await filesOf(daemon)).includes(pending.attachment_id), false);
});

test('stored files are readable only by their owner and are deleted with their workstream', async () => {
  const client = await daemon.client();
  const wsId = await newWorkstream(client);
  const { attachment_id: id } = await uploaded(wsId, png());
  const folder = path.join(daemon.home, 'attachments');
  const modes = await Promise.all(
    [folder, path.join(folder, id)].map(async (place) => (await stat(place)).mode & 0o777),
  );
  assert.deepEqual(modes, [0o700, 0o600]);
  await client.call('sessions.delete', { key: wsId });
  assert.equal((await filesOf(daemon)).includes(id), false);
});

test('a file uploaded before a kill can be sent after it, once; unused uploads are deleted', async () => {
  const client = await daemon.client();
  const wsId = await newWorkstream(client);
  const { attachment_id: id } = await uploaded(wsId, png());
  await daemon.kill9();
  await writeFile(path.join(daemon.home, 'attachments', 'att_orphan.part'), 'half');
  await daemon.restart();
  const left = await filesOf(daemon);
  assert.deepEqual([left.includes(id), left.includes('att_orphan.part')], [true, false]);
  const params = { sessionKey: wsId, message: 'after', attachmentIds: [id], idempotencyKey: 'over-a-kill' };
  const { runId } = await (await daemon.client()).call('chat.send', params);
  await daemon.kill9();
  await daemon.restart();
  const again = await daemon.client();
  await ended(again, runId);
  assert.deepEqual(await again.call('chat.send', params), { runId, status: 'ok' });
  const { messages } = await again.call('chat.history', { sessionKey: wsId });
  assert.equal(messages.map(({ role }) => role).join(), 'user,assistant');
  await assert.rejects(again.call('chat.send', { ...params, idempotencyKey: 'another' }), { code: 'NOT_FOUND' });
});
