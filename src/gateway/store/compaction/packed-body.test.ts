import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { readLengths, writeLength } from './lengths.ts';
import { Packer, unpack } from './packed-body.ts';

function pack(events: readonly string[]): string | undefined {
  const deltas = new Packer();
  return events.every((json) => deltas.add(json)) ? deltas.body() : undefined;
}

const jsonOf = (...events: StreamEvent[]): string[] => events.map((event) => JSON.stringify(event));
const content = (text: string): StreamEvent => ({ type: 'content', text });
const reasoning = (text: string): StreamEvent => ({ type: 'reasoning', text });
const chunk = (call_id: string, text: string): StreamEvent => ({ type: 'tool_output_chunk', call_id, chunk: text });

test('packed deltas are read exactly as they were', () => {
  const cases = [
    jsonOf(content('a'), content('b')),
    jsonOf(reasoning('why'), content('be'), content('cause'), reasoning('more')),
    jsonOf(chunk('1', 'a'), chunk('2', 'b'), chunk('1', 'c'), chunk('1', '')),
    jsonOf(content(''), content('half \ud83d'), content('\ude00 pair'), content('"\\\n\u0000')),
    jsonOf(content('x'.repeat(20_000)), content('y'.repeat(31)), content('z'.repeat(32))),
  ];
  assert.deepEqual(
    cases.map((events) => unpack(pack(events) ?? '')),
    cases,
  );
});

test('a packed answer is hardly longer than its text', () => {
  const pieces = Array.from({ length: 375 }, () => content('text'));
  assert.equal(
    pack(jsonOf(...pieces))?.length,
    '{"packed":[["",{"type":"content","text":""}]]}'.length + 375 * (4 + 1),
  );
});

test('what would be read differently is not packed', () => {
  const spaced = '{"type":"content", "text":"a"}';
  const isReordered = '{"text":"a","type":"content"}';
  for (const other of [spaced, isReordered, ...jsonOf({ type: 'info', message: 'a' })]) {
    assert.deepEqual([pack([...jsonOf(content('b')), other]), pack([other])], [undefined, undefined], other);
  }
});

test('a row that is not packed has one event', () => {
  const [event = ''] = jsonOf({ type: 'info', message: '{"packed":[]}' });
  assert.deepEqual(unpack(event), [event]);
});

test('lengths are read as they were written', () => {
  const lengths = [0, 1, 31, 32, 33, 1_023, 1_024, 32_768, 4_294_967_296, 0];
  assert.deepEqual(readLengths(lengths.map(writeLength).join('')), lengths);
});
