import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { joinDeltas } from './join-deltas.ts';

const stored = (...events: StreamEvent[]) =>
  events.map((event, index) => ({ offset: index + 1, json: JSON.stringify(event) }));
const joined = (...events: StreamEvent[]) =>
  joinDeltas(stored(...events)).map(({ offset, json }) => [offset, JSON.parse(json)]);

test('adjacent deltas of one text become one event with the offset of the last', () => {
  assert.deepEqual(
    joined(
      { type: 'thinking_start' },
      { type: 'reasoning', text: 'a' },
      { type: 'reasoning', text: 'b' },
      { type: 'content', text: 'c' },
      { type: 'content', text: '' },
      { type: 'content', text: 'd' },
      { type: 'stream_end' },
      { type: 'content', text: 'e' },
    ),
    [
      [1, { type: 'thinking_start' }],
      [3, { type: 'reasoning', text: 'ab' }],
      [6, { type: 'content', text: 'cd' }],
      [7, { type: 'stream_end' }],
      [8, { type: 'content', text: 'e' }],
    ],
  );
});

test('output of different calls stays apart', () => {
  const chunk = (call_id: string, text: string): StreamEvent => ({ type: 'tool_output_chunk', call_id, chunk: text });
  assert.deepEqual(joined(chunk('a', '1'), chunk('a', '2'), chunk('b', '3'), chunk('a', '4')), [
    [2, chunk('a', '12')],
    [3, chunk('b', '3')],
    [4, chunk('a', '4')],
  ]);
});

test('a joined event grows to 32 Ki characters and no further', () => {
  const half = 'x'.repeat(16_384);
  const texts = joined(
    { type: 'content', text: half },
    { type: 'content', text: half },
    { type: 'content', text: 'y' },
  );
  assert.deepEqual(texts, [
    [2, { type: 'content', text: half + half }],
    [3, { type: 'content', text: 'y' }],
  ]);
});

test('events that are not deltas pass unchanged, byte for byte', () => {
  const json = '{"type":"info","message":"caf\\u00e9","extra":1}';
  assert.deepEqual(joinDeltas([{ offset: 7, json }]), [{ offset: 7, json }]);
});
