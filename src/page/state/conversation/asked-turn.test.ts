import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { findTurn, toAnswerText } from './asked-turn.ts';
import { fold } from './conversation-fixture.ts';

const turn = (message: string, seq?: number): StreamEvent[] => [
  { type: 'user_turn', message, run_id: message, source: 'person', ...(seq !== undefined && { seq }) },
  { type: 'content', text: 'answer' },
  { type: 'stream_end' },
];

test('a turn ends before the next message of the person', () => {
  const { blocks } = fold([...turn('a', 1), ...turn('b', 5)]);
  assert.deepEqual(
    blocks.map((block) => findTurn(blocks, block)),
    [{ seq: 1, endSeq: 4, isLast: false }, undefined, { seq: 5, endSeq: undefined, isLast: true }, undefined],
  );
});

test('a message without a number has no turn', () => {
  const { blocks } = fold(turn('a'));
  assert.deepEqual(
    blocks.map((block) => findTurn(blocks, block)),
    [undefined, undefined],
  );
});

test('the whole answer is everything that the model said up to the next message of the person', () => {
  const { blocks } = fold([
    ...turn('a', 1),
    { type: 'content', text: '**more**' },
    { type: 'stream_end' },
    ...turn('b', 5),
    { type: 'user_turn', message: 'c', run_id: 'c', source: 'person', seq: 7 },
  ]);
  const asked = blocks.filter(({ kind }) => kind === 'user');
  assert.deepEqual(
    asked.map((block) => toAnswerText(blocks, block)),
    ['answer\n\n**more**', 'answer', ''],
  );
});
