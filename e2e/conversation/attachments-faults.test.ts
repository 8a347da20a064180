import assert from 'node:assert/strict';
import { readdir, rm, stat, truncate } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { LIMITS } from '../../protocol/limits.ts';
import type { Attachment } from '../../protocol/stream-events.ts';
import { needs } from '../../src/testing/needs.ts';
import { readBody } from '../support/clients/read-body.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { mountSmallDisk } from '../support/faults/full-disk.ts';
import { say } from '../support/model/scripted-steps.ts';

const smallDisks = await needs('small disks');
const { model, daemon } = await openStage();
model.onRequest(({ messages }) => (messages.length > 0 ? say('seen') : undefined));

const placeOf = (wsId: string, rest = '') => `/v1/api/workstreams/${wsId}/attachments${rest}`;

test('An upload must be accepted while it brings at least 256 KiB each minute, and ended when it is slower', async () => {
  await using clocked = await startClockedDaemon();
  const operator = await clocked.connect();
  const { wsId } = (await operator.call('workstream.create', {})) as { wsId: string };
  const folder = path.join(clocked.home, 'attachments');
  const onDisk = async () => {
    const names = await readdir(folder).catch(() => []); // created with the first attachment
    const sizes = names.map(async (name) => (await stat(path.join(folder, name)).catch(() => undefined))?.size ?? 0);
    return { files: names.length, bytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) };
  };
  const begin = () => {
    const sending = request(new URL(placeOf(wsId), clocked.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${clocked.token}`, 'content-type': 'multipart/form-data; boundary=x' },
    });
    sending.on('error', () => undefined); // how it ended shows in the answer
    const answered = new Promise<number | undefined>((resolve) => {
      sending.on('response', (response) => resolve(response.resume().statusCode));
    });
    sending.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n');
    return { sending, answered };
  };
  const piece = 'slow and steady\n'.repeat(20 * 1024);
  const slow = begin();
  for (let minute = 1; minute <= 4; minute += 1) {
    slow.sending.write(piece);
    while ((await onDisk()).bytes < minute * piece.length - 64) await new Promise(setImmediate);
    await clocked.clock.advance(LIMITS.bodyMs);
  }
  slow.sending.end('\r\n--x--\r\n');
  const taken = [await slow.answered, await onDisk()];
  const stalled = begin();
  stalled.sending.write(piece);
  while ((await onDisk()).files < 2) await new Promise(setImmediate);
  await clocked.clock.advance(2 * LIMITS.bodyMs);
  const ended = await stalled.answered;
  while ((await onDisk()).files > 1) await new Promise(setImmediate);
  assert.deepEqual([taken, ended], [[200, { files: 1, bytes: 4 * piece.length }], 408]);
});

test('An attachment whose file is missing or damaged must be neither served nor sent, and must not end its conversation', async () => {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', {});
  const uploaded = async (text: string): Promise<Attachment> => {
    const form = new FormData();
    form.set('file', new File([text], `${text}.txt`));
    return (await daemon.fetch(placeOf(wsId), { method: 'POST', body: form })).json();
  };
  const fileOf = (id: string) => path.join(daemon.home, 'attachments', id);
  const contentOf = async (id: string) => {
    const response = await daemon.fetch(placeOf(wsId, `/${id}/content`));
    return { status: response.status, body: await readBody(response) };
  };
  const ask = async (message: string, attachmentIds: string[] = []) => {
    const params = { sessionKey: wsId, message, attachmentIds, idempotencyKey: message };
    const { runId } = await client.call('chat.send', params);
    await client.call('agent.wait', { runId, timeoutMs: 60_000 });
  };
  const [waiting, sent] = [await uploaded('waiting'), await uploaded('sent')];
  await ask('whole', [sent.attachment_id]);
  await truncate(fileOf(waiting.attachment_id), 2);
  await rm(fileOf(sent.attachment_id));
  const lost = { status: 404, body: { error: 'The file of the attachment is gone or damaged' } };
  assert.deepEqual([await contentOf(waiting.attachment_id), await contentOf(sent.attachment_id)], [lost, lost]);
  await assert.rejects(ask('damaged', [waiting.attachment_id]), {
    code: 'NOT_FOUND',
    message: `The file of attachment ${waiting.attachment_id} is gone or damaged; upload it again`,
  });
  await ask('and now?');
  const told = JSON.stringify(model.requests.at(-1)?.body.messages);
  assert.match(told, /which is not shown to you: its file is gone or damaged/);
  const { messages } = await client.call('chat.history', { sessionKey: wsId });
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant'],
  );
  assert.equal((await daemon.fetch(placeOf(wsId, `/${waiting.attachment_id}`), { method: 'DELETE' })).status, 200);
});

test('an upload whose form ends early is refused, and nothing of it is kept', async () => {
  const { wsId } = await (await daemon.client()).call('workstream.create', {});
  const part = (field: string) =>
    `--x\r\nContent-Disposition: form-data; name="${field}"; filename="a.txt"\r\n\r\ntext`;
  const upload = async (body: string) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const response = await daemon.fetch(placeOf(wsId), { method: 'POST', body, headers });
    return [response.status, await readBody(response)];
  };
  const refused = [400, { error: 'The request body ended early' }];
  assert.deepEqual(
    [await upload(part('other')), await upload(`${part('file')}\r\n${part('other')}`), await upload(part('file'))],
    [refused, refused, refused],
  );
  assert.deepEqual(await readBody(await daemon.fetch(placeOf(wsId))), { attachments: [] });
});

test('an upload to a full disk gets an error, leaves nothing and can be repeated', smallDisks, async () => {
  using disk = mountSmallDisk(24);
  await using small = await startDaemon({ home: path.join(disk.folder, 'home') });
  const { wsId } = await (await small.client()).call('workstream.create', {});
  const upload = async (bytes: number): Promise<[number, string | undefined]> => {
    const form = new FormData();
    form.set('file', new File(['x'.repeat(bytes)], 'big.txt'));
    const response = await small.fetch(placeOf(wsId), { method: 'POST', body: form });
    const { error } = await readBody(response);
    return [response.status, error];
  };
  const room = LIMITS.attachmentBytes / 2;
  assert.deepEqual(await upload(room), [200, undefined]);
  assert.deepEqual(await upload(2 * room), [503, 'The disk has no room for the file']);
  assert.deepEqual((await readdir(path.join(small.home, 'attachments'))).length, 1);
  assert.deepEqual(await upload(1_000), [200, undefined]);
});
