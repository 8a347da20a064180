import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tellMore, toldSoFar } from './answer-speech.ts';
import type { AnswerBlock, Block } from './blocks.ts';

const answer = (key: string, text: string, streaming = true): AnswerBlock => ({
  ...{ kind: 'answer', key, text, reasoning: '', streaming, partial: false },
});

const stored = (key: string, text: string): AnswerBlock => ({ ...answer(key, text, false), stored: true });

/** The lines of each look. */
function follow(...looks: Block[][]): string[][] {
  let told = toldSoFar(looks[0] ?? []);
  return looks.slice(1).map((blocks) => {
    const next = tellMore(blocks, told);
    told = next.told;
    return next.lines;
  });
}

test('each sentence is announced once, and the rest when the answer ends', () => {
  assert.deepEqual(
    follow([], [answer('e1', 'One. Tw')], [answer('e1', 'One. Two. Thr')], [answer('e1', 'One. Two. Three', false)]),
    [['One.'], ['Two.'], ['Three']],
  );
});

test('answers that arrive complete between two checks are announced', () => {
  const both = [answer('e1', 'Whole.', false), answer('e4', 'Another.', false)];
  assert.deepEqual(follow([], both, both), [['Whole.', 'Another.'], []]);
});

test('stored answers are never announced', () => {
  const old = stored('h3', 'Long ago.');
  const older = stored('h1', 'Longer ago.');
  assert.deepEqual(follow([old], [older, old], [older, old, answer('e1', 'Now. ')]), [[], ['Now.']]);
  assert.deepEqual(follow([], [old], [old, answer('e1', 'Now. ')]), [[], ['Now.']]);
});

test('a conversation opened during an answer is announced from that point', () => {
  assert.deepEqual(follow([answer('e1', 'Seen. Half a')], [answer('e1', 'Seen. Half a sentence. M')]), [['sentence.']]);
});

test('after a clear or a new snapshot only new text is announced, even under a reused key', () => {
  const first = answer('e1', 'A long first answer.', false);
  assert.deepEqual(follow([], [first], [], [answer('e1', 'Short. ')]), [['A long first answer.'], [], ['Short.']]);
  const seen = stored('h2', 'A long first answer.');
  assert.deepEqual(follow([], [first], [seen], [seen, answer('e1', 'Short. ')]), [
    ['A long first answer.'],
    [],
    ['Short.'],
  ]);
});
