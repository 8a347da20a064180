import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryMessage } from '../../../../protocol/stream-events.ts';
import { isTool } from './blocks.ts';
import { joinPages, toBlocks } from './history-blocks.ts';

const calls = (...ids: string[]) => ids.map((id) => ({ id, name: 'bash', arguments: '{"command":"ls\\n-la"}' }));
const assistant = (seq: number, ...ids: string[]): HistoryMessage => ({
  seq,
  role: 'assistant',
  content: null,
  tool_calls: calls(...ids),
});
const result = (seq: number, callId: string, more: Partial<HistoryMessage> = {}): HistoryMessage => ({
  seq,
  role: 'tool',
  content: `result of ${callId}`,
  tool_calls: null,
  call_id: callId,
  name: 'bash',
  ...more,
});
const tools = (blocks: ReturnType<typeof toBlocks>) =>
  blocks.filter(isTool).map(({ callId, phase, result: text, header }) => ({ callId, phase, text, header }));

test('stored results find their calls, in whatever order they came', () => {
  const blocks = toBlocks([
    assistant(1, 'a', 'b'),
    result(2, 'b', { is_error: true }),
    result(3, 'a', { content: 'Denied by user: no', denied: true }),
  ]);
  assert.deepEqual(tools(blocks), [
    { callId: 'a', phase: 'denied', text: 'Denied by user: no', header: 'bash: ls …' },
    { callId: 'b', phase: 'failed', text: 'result of b', header: 'bash: ls …' },
  ]);
});

test('an assistant message with reasoning and a cut answer keeps both', () => {
  assert.deepEqual(
    toBlocks([{ seq: 7, role: 'assistant', content: 'half', tool_calls: null, reasoning: 'why', partial: true }]),
    [{ kind: 'answer', key: 'h7', text: 'half', reasoning: 'why', streaming: false, partial: true }],
  );
});

test('a result whose call stands on the older page moves to it', () => {
  const newer = toBlocks([result(3, 'a'), { seq: 4, role: 'user', content: 'next', tool_calls: null }]);
  const joined = joinPages(toBlocks([assistant(2, 'a')]), newer);
  assert.deepEqual(
    joined.map(({ kind, key }) => ({ kind, key })),
    [
      { kind: 'tool', key: 'h2.0' },
      { kind: 'user', key: 'h4' },
    ],
  );
  assert.deepEqual(tools(joined), [{ callId: 'a', phase: 'done', text: 'result of a', header: 'bash: ls …' }]);
});

test('malformed stored arguments leave the name of the tool', () => {
  const broken = {
    seq: 1,
    role: 'assistant' as const,
    content: null,
    tool_calls: [{ id: 'a', name: 'bash', arguments: '{"comm' }],
  };
  assert.deepEqual(tools(toBlocks([broken])), [{ callId: 'a', phase: 'running', text: undefined, header: 'bash' }]);
});
