import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import type { Block } from '../conversation/blocks.ts';
import { fold, snapshot } from '../conversation/conversation-fixture.ts';
import { BlockSearch, stepFound } from './block-search.ts';
import { toFoundWords } from './found-words.ts';
import { findGoal, type Goal } from './goal.ts';
import { findPlace, toFragment } from './message-link.ts';

const stored = snapshot({
  messages: [
    { seq: 4, role: 'user', content: 'Old question', tool_calls: null },
    { seq: 5, role: 'assistant', content: 'Old **Answer**', tool_calls: null },
  ],
  truncated: true,
});
const turn = (message: string, seq: number): StreamEvent[] => [
  { type: 'user_turn', message, run_id: message, source: 'person', seq },
  { type: 'content', text: `answer to ${message}` },
  { type: 'stream_end' },
];
const { blocks } = fold([...turn('first', 7), ...turn('second', 9)], stored);

const textOf = (block: Block | 'earlier' | undefined) =>
  typeof block === 'object' && 'text' in block ? block.text : block;
const goTo = (goal: Goal, at = blocks.length, truncated = true) => textOf(findGoal(blocks, goal, { at, truncated }));

test('a person goes through their messages, and before the first loaded one older messages are needed', () => {
  assert.deepEqual(
    [goTo({ asked: 'last' }), goTo({ asked: 'before' }), goTo({ asked: 'before' }, 4), goTo({ asked: 'before' }, 0)],
    ['second', 'second', 'first', 'earlier'],
  );
  assert.deepEqual(
    [goTo({ asked: 'before' }, 0, false), goTo({ asked: 'after' }, 2), goTo({ asked: 'after' }, 4)],
    [undefined, 'second', undefined],
  );
});

test('the number of a message leads to its block, to the one before if it has none, or to older messages', () => {
  assert.deepEqual(
    [goTo({ seq: 5 }), goTo({ seq: 6 }), goTo({ seq: 7 }), goTo({ seq: 3 }), goTo({ seq: 3 }, 0, false)],
    ['Old **Answer**', 'Old **Answer**', 'first', 'earlier', undefined],
  );
});

test('words are found in some blocks at a time, the latest first, regardless of case', () => {
  const search = new BlockSearch(' ANSWER ');
  assert.equal(search.step(blocks, 1), false);
  assert.equal(search.found(blocks).length, 1);
  assert.equal(search.step(blocks, 10_000), true);
  const found = search.found(blocks);
  assert.deepEqual(
    found.map((key) => textOf(blocks.find((block) => block.key === key))),
    ['Old **Answer**', 'answer to first', 'answer to second'],
  );
  const more = fold(turn('third answer', 11), stored).blocks;
  assert.equal(search.step(more, 10_000), true);
  assert.equal(search.found(more).length, 3, 'blocks of another conversation are looked at, too');
  assert.deepEqual(
    [stepFound(found, undefined, -1), stepFound(found, found[2], 1), stepFound([], undefined, 1)],
    [found[2], found[0], undefined],
  );
});

test('the count says what it counts, because a message may have many marks', () => {
  const calls = fold([
    ...turn('kestrel kestrel', 7),
    { type: 'tool_result', call_id: 'c1', name: 'bash', output: 'kestrel', outcome: 'done', is_error: false },
  ]).blocks;
  const say = (words: string, at?: number) => {
    const search = new BlockSearch(words);
    search.step(calls, 10_000);
    const found = search.found(calls);
    return toFoundWords({ words, blocks: calls, found, at: at === undefined ? undefined : found[at], isBusy: false });
  };
  assert.deepEqual(
    [say('kestrel'), say('answer to'), say('answer to', 0), say('bash'), say('heron'), say(' ')],
    ['In 3 messages and calls', 'In 1 message', '1 of 1 message', 'In 1 call', 'Nothing found', ''],
  );
});

test('nothing is found without words', () => {
  const search = new BlockSearch('  ');
  search.step(blocks, 10_000);
  assert.deepEqual(search.found(blocks), []);
});

test('a link leads to the message that it was made of, and nothing else is one', () => {
  const place = { wsId: '0f'.repeat(16), seq: 12 };
  assert.deepEqual([findPlace(toFragment(place)), findPlace(toFragment({ wsId: 'a' }))], [place, { wsId: 'a' }]);
  const others = ['', 'login=abc', 'conversation=', 'conversation=a%2Fb', 'message=3'];
  assert.deepEqual(
    others.map(findPlace),
    others.map(() => undefined),
  );
  assert.deepEqual(findPlace('conversation=a&message=0'), { wsId: 'a' });
});
