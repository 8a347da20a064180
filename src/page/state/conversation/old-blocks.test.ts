import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryMessage, StreamEvent } from '../../../../protocol/stream-events.ts';
import { prependPage } from './conversation.ts';
import { fold, item, lines } from './conversation-fixture.ts';
import { forgetOld, KEPT_BLOCKS, MOST_BLOCKS } from './old-blocks.ts';
import { todoOf } from './todo-list.ts';

const TURNS = 400;
/** A question, the error of a run and an answer, as events and as they are stored. */
const turn = (number: number): StreamEvent[] => [
  { type: 'user_turn', message: `question ${number}`, run_id: `r${number}`, source: 'person', seq: 2 * number - 1 },
  { type: 'info', message: `note ${number}` },
  { type: 'content', text: `answer ${number}` },
  { type: 'stream_end' },
];
const stored = (number: number): HistoryMessage[] => [
  { seq: 2 * number - 1, role: 'user', content: `question ${number}`, tool_calls: null },
  { seq: 2 * number, role: 'assistant', content: `answer ${number}`, tool_calls: null },
];
const turns = (count: number) => Array.from({ length: count }, (_, index) => turn(index + 1)).flat();
const calls = (more: object = {}): StreamEvent => ({
  type: 'tool_info',
  items: [item('c', { needs_approval: false, ...more })],
});
const ended = {
  type: 'tool_result',
  call_id: 'c',
  name: 'todo',
  output: '',
  outcome: 'done',
  is_error: false,
} as const;

test('the oldest turns of a long conversation are forgotten, and come back with the page before them', () => {
  const whole = fold(turns(TURNS));
  const shown = forgetOld(whole);
  assert.ok(whole.blocks.length > MOST_BLOCKS);
  const kept = shown.blocks.length;
  assert.ok(kept >= KEPT_BLOCKS && kept < KEPT_BLOCKS + 3, `${kept}`);
  const { firstSeq = 0, truncated } = shown;
  const [first] = lines(shown);
  assert.deepEqual([first, truncated], [`user: question ${(firstSeq + 1) / 2}`, true]);
  const numbers = Array.from({ length: (firstSeq - 1) / 2 }, (_, index) => index + 1);
  const notes = numbers.map((number) => ({
    ...{ kind: 'info' as const, after_seq: 2 * number - 1, created_ms: 1, message: `note ${number}` },
  }));
  const read = prependPage(shown, { messages: numbers.flatMap(stored), notes, truncated: false });
  assert.deepEqual(lines(read), lines(whole));
  assert.equal(new Set(read.blocks.map(({ key }) => key)).size, read.blocks.length);
});

test('a conversation that is not long stays as it is', () => {
  const short = fold(turns(MOST_BLOCKS / 3 - 1));
  assert.equal(forgetOld(short), short);
});

test('nothing is forgotten that still changes or is shown beside the conversation, and the checklist stays', () => {
  const running = fold([...turn(0), calls(), ...turns(TURNS)]);
  assert.equal(forgetOld(running), running);
  const todo = [{ text: 'write', status: 'pending' as const }];
  const done = fold([...turn(0), calls({ func_name: 'todo' }), { ...ended, todo }, ...turns(TURNS)]);
  assert.equal(forgetOld(done, 'c'), done);
  const shown = forgetOld(done, 'other');
  assert.deepEqual([shown.blocks.length < done.blocks.length, todoOf(shown)], [true, todo]);
});

test('one turn, however long, stays', () => {
  const notes = Array.from({ length: 2 * MOST_BLOCKS }, (): StreamEvent => ({ type: 'info', message: 'working' }));
  const long = fold([...turn(1), ...notes]);
  assert.equal(forgetOld(long), long);
});
