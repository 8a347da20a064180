import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnswerMeter } from './answer-limits.ts';

const upstream = { provider: 'openai-compatible', baseUrl: 'http://gpu.lan/v1', keyName: '' };
const limits = { betweenSecs: 60, maxChars: 1_000, maxToolCalls: 2, retrySecs: 300 };
const meter = () => createAnswerMeter(limits, upstream);
const ended = (what: string) => ({
  kind: 'over_limit',
  message: `The answer of openai-compatible at http://gpu.lan/v1 was stopped: it is longer than ${what}.`,
});

test('text, reasoning and arguments count together', () => {
  const { part } = meter();
  part({ type: 'text-delta', id: '1', delta: 'x'.repeat(400) });
  part({ type: 'reasoning-delta', id: '1', delta: 'x'.repeat(400) });
  part({ type: 'tool-input-delta', id: '1', delta: 'x'.repeat(200) });
  assert.throws(() => part({ type: 'text-delta', id: '1', delta: 'x' }), ended('1000 characters'));
});

test('the names of calls count, too', () => {
  const { part } = meter();
  const toolName = 'x'.repeat(1_001);
  assert.throws(() => part({ type: 'tool-input-start', id: '1', toolName }), ended('1000 characters'));
});

test('calls are counted as they begin', () => {
  const { part } = meter();
  for (const id of ['1', '2']) part({ type: 'tool-input-start', id, toolName: 'bash' });
  assert.throws(() => part({ type: 'tool-input-start', id: '3', toolName: 'bash' }), ended('2 tool calls'));
});

test('an endless line is stopped; any number of lines is allowed', () => {
  const { bytes, part } = meter();
  for (let n = 0; n < 100; n++) {
    bytes(Buffer.alloc(6_000, 'x'));
    part({ type: 'text-delta', id: '1', delta: '' });
  }
  bytes(Buffer.alloc(6_000, 'x'));
  assert.throws(() => bytes(Buffer.alloc(1)), ended('1000 characters in one piece'));
});

for (const [what, text, said] of [
  ['a web page', '\n <!DOCTYPE html><html>…', 'answered with a web page. Check its address.'],
  ['a JSON object', '{"error":"no"}', 'answered with JSON instead of an event stream: {"error":"no"}'],
] as const)
  test(`${what} is not accepted as an answer`, () => {
    assert.throws(() => meter().bytes(Buffer.from(text)), {
      kind: 'refused',
      message: `openai-compatible at http://gpu.lan/v1 ${said}`,
    });
  });

test('only the beginning of a body is checked', () => {
  const { bytes } = meter();
  bytes(Buffer.from(': hello\n\n'));
  bytes(Buffer.from('<html>{'));
});
