import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { DAEMON } from '../sharing/perception.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

async function* bytesOf(text: string) {
  yield Buffer.from(text);
}

/** Sends a message with a file; returns the file. */
async function sendFile(gateway: WholeGateway, message: string): Promise<Attachment> {
  const wsId = await gateway.main();
  const owner = { wsId, principal: 'ada' };
  const file = await gateway.gateway.attachments.receive(
    { ...owner, viewer: DAEMON },
    { fileName: 'a.txt', bytes: bytesOf('inside') },
  );
  await gateway.call('workstream.send', { wsId, message, attachmentIds: [file.attachment_id] });
  await gateway.isIdle(wsId);
  return file;
}

/** The files of the last message that the model was sent. */
function filesSent(gateway: WholeGateway) {
  const last = gateway.puppet.requests.at(-1)?.messages.findLast(({ role }) => role === 'user');
  return last?.role === 'user' ? last.attachments : undefined;
}

test('a message is sent again with its files, as often as wanted', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const file = await sendFile(gateway, 'read it');
  await gateway.call('workstream.retry', { wsId });
  await gateway.isIdle(wsId);
  assert.deepEqual(filesSent(gateway), [file]);
  await gateway.crash();
  await gateway.call('workstream.edit', { wsId, seq: 3, message: 'read it well' });
  await gateway.isIdle(wsId);
  assert.deepEqual(filesSent(gateway), [file]);
  const { messages } = await gateway.call('workstream.history', { wsId });
  assert.deepEqual(messages[0], {
    ...{ seq: 5, created_ms: 1_000_000, role: 'user', content: 'read it well', tool_calls: null, attachments: [file] },
  });
  await gateway.call('workstream.edit', { wsId, seq: 5, message: '' });
  await gateway.isIdle(wsId);
  assert.deepEqual(filesSent(gateway), [file], 'a message may consist of its files');
});

test('a fork keeps the files when the original is deleted', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  const owner = { wsId, principal: 'ada' };
  const file = await gateway.gateway.attachments.receive(
    { ...owner, viewer: DAEMON },
    { fileName: 'a.txt', bytes: bytesOf('inside') },
  );
  await gateway.call('workstream.send', { wsId, message: 'read it', attachmentIds: [file.attachment_id] });
  await gateway.isIdle(wsId);
  const fork = await gateway.call('workstream.fork', { wsId });
  await gateway.call('sessions.delete', { key: wsId });
  await gateway.restart();
  const { attachment, bytes } = await gateway.gateway.attachments.open(
    { viewer: DAEMON, wsId: fork.wsId, principal: 'ada' },
    file.attachment_id,
  );
  const read: Buffer[] = [];
  for await (const chunk of bytes) read.push(Buffer.from(chunk));
  assert.deepEqual([attachment, Buffer.concat(read).toString()], [file, 'inside']);
  await gateway.call('workstream.retry', { wsId: fork.wsId });
  await gateway.isIdle(fork.wsId);
  assert.deepEqual(filesSent(gateway), [file]);
});

test('a message whose file is gone can still be sent again', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const file = await sendFile(gateway, 'read it');
  await rm(join(gateway.dir, 'attachments', file.attachment_id));
  await gateway.call('workstream.retry', { wsId });
  await gateway.isIdle(wsId);
  const { messages } = await gateway.call('workstream.history', { wsId });
  assert.deepEqual(
    messages.map(({ seq, role }) => [seq, role]),
    [
      [3, 'user'],
      [4, 'assistant'],
    ],
  );
});
