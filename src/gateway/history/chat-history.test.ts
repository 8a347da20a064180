import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { readChatHistory } from './chat-history.ts';
import type { StoredMessage } from './messages.ts';

/** A conversation of these texts; `asked` counts the messages of each read. */
function conversation(texts: readonly string[], contextAfterSeq = 0) {
  const asked: number[] = [];
  const stored = texts.map(
    (content, index): StoredMessage => ({ seq: index + 1, createdMs: 0, message: { role: 'user', content } }),
  );
  const messages = {
    firstSeq: async (_wsId: string, { after, upTo }: { after: number; upTo: number }) =>
      upTo > after ? after + 1 : undefined,
    async page(_wsId: string, { after, upTo, limit }: { after: number; upTo: number; limit: number }) {
      const page = stored.filter(({ seq }) => seq > after && seq <= upTo).slice(-limit);
      asked.push(page.length);
      return page;
    },
  };
  const data = { wsId: 'w', contextAfterSeq, messageCount: texts.length };
  return {
    asked,
    async read(limit: number) {
      const { messages: shown, truncated } = await readChatHistory(data, limit, { messages });
      const shownTexts = shown.map(({ content: [part] }) => (part?.type === 'text' ? part.text : ''));
      return { texts: shownTexts, truncated, bytes: Buffer.byteLength(JSON.stringify(shown)) };
    },
  };
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `message ${n + 1}`);

test('a complete history is not marked as truncated; one cut by `limit` or size is', async () => {
  const whole = await conversation(numbered(120)).read(120);
  assert.deepEqual([whole.texts, whole.truncated], [numbered(120), undefined]);
  const limited = await conversation(numbered(120)).read(70);
  assert.deepEqual([limited.texts, limited.truncated], [numbered(120).slice(50), true]);
  const afterClear = await conversation(numbered(120), 60).read(60);
  assert.deepEqual([afterClear.texts.length, afterClear.truncated], [60, undefined]);
  assert.deepEqual(await conversation([]).read(5), { texts: [], truncated: undefined, bytes: 2 });
});

test('the messages have at most 6 MiB as JSON, in bytes and not in characters, and the next one would not fit', async () => {
  for (const character of ['x', '€', '"']) {
    const text = character.repeat(100_000);
    const { texts, truncated, bytes } = await conversation(Array.from({ length: 200 }, () => text)).read(200);
    const each = bytes / texts.length;
    assert.equal(truncated, true);
    assert.ok(bytes <= LIMITS.chatHistoryBytes, `${bytes} bytes`);
    assert.ok(bytes + each + 1 > LIMITS.chatHistoryBytes, 'it is filled');
  }
});

test('exactly 6 MiB are not truncated, one more byte is', async () => {
  const { bytes: empty } = await conversation(['', '']).read(2);
  const most = 'x'.repeat(LIMITS.chatHistoryBytes - empty);
  assert.equal((await conversation(['', most]).read(2)).bytes, LIMITS.chatHistoryBytes);
  const cut = await conversation(['', `${most}x`]).read(2);
  assert.deepEqual([cut.texts.length, cut.truncated], [1, true]);
});

test('the newest message is always included, even if it alone is too large', async () => {
  const huge = 'x'.repeat(LIMITS.chatHistoryBytes);
  const { texts, truncated } = await conversation(['small', huge]).read(200);
  assert.deepEqual([texts.length, texts[0]?.length, truncated], [1, huge.length, true]);
});

test('for a history truncated by size, hardly more is read than shown', async () => {
  const { read, asked } = conversation(Array.from({ length: 1_000 }, () => 'x'.repeat(500_000)));
  await read(1_000);
  assert.deepEqual(asked, [50]);
});
