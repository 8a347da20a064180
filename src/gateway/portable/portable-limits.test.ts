import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversationFile, FileContent } from '../../../protocol/methods/conversation/conversation-file.ts';
import type { FileMessage } from '../../../protocol/methods/conversation/file-message.ts';
import { FILE_TYPES } from '../../../protocol/methods/conversation/file-types.ts';
import { DAEMON } from '../sharing/perception.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { exported, textOf } from './portable-fixture.ts';

const fileOf = (messages: FileMessage[], files: FileContent[] = []): ConversationFile => ({
  format: 'headgate-conversation',
  version: 1,
  messages,
  notes: [],
  files,
});

test('files of every type that can be attached are taken in again, with names of 200 characters', async () => {
  await using gateway = await wholeGateway();
  const files = FILE_TYPES.map((mimeType) => ({ name: '📄'.repeat(200), mimeType, sizeBytes: 12 }));
  const messages = files.map((_, place) => ({ role: 'user' as const, createdMs: 1, content: 'a', files: [place] }));
  const { wsId } = await gateway.call('workstream.import', { conversation: fileOf(messages, files) });
  assert.deepEqual((await exported(gateway, wsId)).files, files);
});

test('times are taken in up to the last date', async () => {
  await using gateway = await wholeGateway();
  const last = 8_640_000_000_000_000;
  const at = (createdMs: number) => ({ conversation: fileOf([{ role: 'user', createdMs, content: 'a' }]) });
  const { wsId } = await gateway.call('workstream.import', at(last));
  assert.match(await textOf((await gateway.gateway.exports.open(wsId, DAEMON)).markdown()), /\+275760-09-13/);
  const refusal = await gateway.refusal('workstream.import', at(last + 1));
  assert.match(refusal.message, /createdMs: must be at most/);
});
