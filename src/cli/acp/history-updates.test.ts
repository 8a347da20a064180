import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { HistoryMessage } from '../../../protocol/stream-events.ts';
import { replay } from './history-updates.ts';

const message = (seq: number, more: Partial<HistoryMessage> = {}): HistoryMessage => ({
  seq,
  role: 'user',
  content: `message ${seq}`,
  tool_calls: null,
  ...more,
});

/** A daemon that stores these messages and reads them by page. */
const storing = (all: readonly HistoryMessage[], page: number): Pick<GatewayClient, 'call'> => ({
  call: (async (_: string, { before }: { before: number }) => {
    const earlier = all.filter(({ seq }) => seq < before);
    return { messages: earlier.slice(-page), truncated: earlier.length > page };
  }) as never, // only `workstream.history` is called
});

test('all pages are replayed, oldest first', async () => {
  const all = Array.from({ length: 25 }, (_, index) => message(index + 1));
  const client = storing(all, 10);
  const updates = await replay(client, 'w', { messages: all.slice(-5), truncated: true });
  assert.deepEqual(
    updates.map((update) => ('content' in update ? Reflect.get(update.content ?? {}, 'text') : '')),
    all.map(({ content }) => content),
  );
});

test('calls are replayed with their results, thoughts with their answers, and notes in their places', async () => {
  const messages = [
    message(1),
    message(2, {
      role: 'assistant',
      content: 'I look.',
      reasoning: 'hm',
      tool_calls: [{ id: 'c', name: 'bash', arguments: '{"command":"ls"}' }],
    }),
    message(3, { role: 'tool', content: 'a.txt', call_id: 'c', name: 'bash', outcome: 'failed' }),
  ];
  const notes = [{ kind: 'info', message: 'renamed', after_seq: 1, created_ms: 1 }] as const;
  const updates = await replay(storing([], 1), 'w', { messages, notes: [...notes], truncated: false });
  assert.deepEqual(
    updates.map(({ sessionUpdate }) => sessionUpdate),
    [
      'user_message_chunk',
      'agent_message_chunk',
      'agent_thought_chunk',
      'agent_message_chunk',
      'tool_call',
      'tool_call_update',
    ],
  );
  const [call, result] = updates.slice(-2);
  assert.equal(call && 'title' in call && call.title, 'bash ls');
  assert.equal(result && 'status' in result && result.status, 'failed');
});

test('calls with broken arguments are replayed by their names', async () => {
  const calls = [{ id: 'c', name: 'bash', arguments: '[1' }];
  const messages = [message(1, { role: 'assistant', content: null, tool_calls: calls })];
  const [call] = await replay(storing([], 1), 'w', { messages, truncated: false });
  assert.equal(call && 'title' in call && call.title, 'bash');
});
