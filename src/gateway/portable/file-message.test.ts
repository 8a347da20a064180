import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileMessage } from '../../../protocol/methods/conversation/file-message.ts';
import type { Message } from '../../agent/message.ts';
import { toFileMessage } from './file-message.ts';

const IMAGE = { attachment_id: 'att_1', filename: 'a.png', mime_type: 'image/png', size_bytes: 1, kind: 'image' };

/** Messages with fields that a file does not have. */
const MESSAGES: object[] = [
  { role: 'user', content: 'done', watch: { id: 'wat_1', taint: { kind: 'network' } }, trusted: true, unseen: 'all' },
  { role: 'user', content: 'a summary', summary: { rules: [], files: [] } },
  { role: 'assistant', content: '', toolCalls: [], images: { model: 'm' }, providerData: { m: 1 } },
  {
    ...{ role: 'tool', callId: 'call_1', name: 'plan_agent', output: 'approved', outcome: 'done' },
    ...{ todo: [{ text: 'Begin', status: 'pending' }], attachments: [IMAGE], unseen: 'images', taint: { kind: 'mcp' } },
  },
];

test('whatever a stored message holds, its file has only what can be imported', () => {
  for (const message of MESSAGES) {
    const stored = { seq: 1, runId: 'run_1', createdMs: 5, message: message as Message };
    const file = toFileMessage(stored, () => 0);
    assert.deepEqual(FileMessage.safeParse(file).error?.issues, undefined, JSON.stringify(file));
  }
});
