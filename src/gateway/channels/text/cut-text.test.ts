import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutText } from './cut-text.ts';
import type { Piece } from './pieces.ts';

const MOST = 4_096;

/** Whether a message has few enough pieces. */
const fits = (pieces: readonly Piece[]): boolean => pieces.length <= 100;

test('the work of cutting grows with the text, not with its messages as well', ({ mock }) => {
  const slices = mock.method(String.prototype, 'slice').mock;
  /** How often each piece of a text is sliced while it is cut. */
  const workPerPiece = (count: number): number => {
    const pieces = Array.from({ length: count }, (): Piece => ({ text: 'a ', marks: [] }));
    const blocks = pieces.map((_, index) => index * 2);
    const before = slices.callCount();
    assert.equal(cutText({ pieces, blocks }, { most: MOST, fits }).length, count / 100);
    return (slices.callCount() - before) / count;
  };
  const [few, many] = [workPerPiece(1_000), workPerPiece(10_000)];
  assert.ok(many < 1.5 * few, `${few} and ${many}`);
});

test('nothing is lost between messages, wherever a piece begins or ends', () => {
  const texts = ['one ', '', 'two', ' \n', '\n', '  three', 'four five six', '\n \n', ' '];
  const pieces = texts.map((text): Piece => ({ text, marks: [] }));
  for (let most = 1; most < 30; most += 1) {
    const chunks = cutText({ pieces, blocks: [0] }, { most, fits: (some) => lengthOf(some) <= most });
    const words = chunks.flat().map(({ text }) => text.replaceAll(/\s/g, ''));
    assert.equal(words.join(''), 'onetwothreefourfivesix', `at most ${most}`);
    assert.ok(chunks.every((chunk) => lengthOf(chunk) <= most));
  }
});

const lengthOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { text }) => sum + text.length, 0);
