import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryNote } from '../../../protocol/stream-events.ts';
import type { StoredMessage } from '../history/messages.ts';
import { toMarkdown } from './markdown.ts';

test('a message that was not answered says why once, and other errors stay', async () => {
  const failed = { code: 'refused', text: 'The key is wrong.' } as const;
  const asked: StoredMessage = { seq: 1, createdMs: 0, message: { role: 'user', content: 'hello', failed } };
  async function* pages() {
    yield [asked];
  }
  const told = (message: string, after_seq: number): HistoryNote => ({
    kind: 'error',
    message,
    after_seq,
    created_ms: 0,
  });
  const notes = [told('Error: The disk is full.', 1), told('Error: The key is wrong.', 1)];
  let text = '';
  for await (const piece of toMarkdown({ title: 't', pages: pages(), notes })) text += piece;
  assert.equal(text.match(/The key is wrong/g)?.length, 1);
  assert.match(text, /\*Not answered: The key is wrong\.\*/);
  assert.match(text, /The disk is full/);
});
