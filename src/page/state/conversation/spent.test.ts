import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryMessage, StreamEvent } from '../../../../protocol/stream-events.ts';
import type { Block } from './blocks.ts';
import { foldEvent, prependPage, toConversation } from './conversation.ts';
import { snapshot } from './conversation-fixture.ts';

const spent = (tokens: number) => ({
  ...{ model: 'test/m', input_tokens: tokens, cache_read_tokens: 0, cache_write_tokens: 0 },
  ...{ output_tokens: 1, cost_usd: tokens / 1_000, duration_ms: 10 },
});
const user = (seq: number): HistoryMessage => ({ seq, role: 'user', content: 'do it', tool_calls: null });
const answer = (seq: number, content: string | null, tokens: number): HistoryMessage => ({
  ...{ seq, role: 'assistant', content, spent: spent(tokens) },
  tool_calls: content === null ? [{ id: `c${seq}`, name: 'bash', arguments: '{}' }] : null,
});
const tokensOf = (blocks: readonly Block[]) =>
  blocks.flatMap((block) => (block.kind === 'answer' ? [block.spent?.input_tokens] : []));

test('an answer shows what it took together with the calls before it, live and after a reload', () => {
  const events: StreamEvent[] = [
    { type: 'user_turn', message: 'do it', run_id: 'r', source: 'person' },
    { type: 'stream_end', created_ms: 1, spent: spent(100) },
    { type: 'reasoning', text: 'hm' },
    { type: 'stream_end', created_ms: 1, spent: spent(1_000) },
    { type: 'content', text: 'Half.' },
    { type: 'stream_end', created_ms: 2, spent: spent(20) },
    { type: 'stream_end', created_ms: 3, spent: spent(3) },
    { type: 'content', text: 'Done.' },
    { type: 'stream_end', created_ms: 4, spent: spent(4) },
  ];
  const live = events.reduce(foldEvent, toConversation(snapshot()));
  const thought = { ...answer(3, null, 1_000), reasoning: 'hm' };
  const half = [user(1), answer(2, null, 100), thought, answer(4, 'Half.', 20)];
  const messages = [...half, answer(5, null, 3), answer(6, 'Done.', 4)];
  const stored = toConversation(snapshot({ messages }));
  assert.deepEqual(
    [tokensOf(live.blocks), tokensOf(stored.blocks)],
    [
      [undefined, 1_120, 7],
      [undefined, 1_120, 7],
    ],
  );
});

test('what a snapshot or an older page ends with counts for the next answer', () => {
  const joined = toConversation(snapshot({ messages: [user(1), answer(2, null, 100)] }));
  const events: StreamEvent[] = [
    { type: 'content', text: 'Done.' },
    { type: 'stream_end', spent: spent(4) },
  ];
  assert.deepEqual(tokensOf(events.reduce(foldEvent, joined).blocks), [104]);
  const newer = toConversation(snapshot({ messages: [answer(3, 'Done.', 4)], truncated: true }));
  const page = { messages: [user(1), answer(2, null, 100)], truncated: false };
  assert.deepEqual(tokensOf(prependPage(newer, page).blocks), [104]);
  const other = toConversation(snapshot({ messages: [user(3), answer(4, 'Done.', 4)], truncated: true }));
  assert.deepEqual(tokensOf(prependPage(other, page).blocks), [4]);
});
