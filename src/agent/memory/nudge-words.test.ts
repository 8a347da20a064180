import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stanceOf } from './nudge-words.ts';

const CORRECTIONS = [
  'No, use pnpm here.',
  'wrong file',
  "Don't touch the lock file",
  'that’s not what I asked for',
  'That is wrong: the port is 7717.',
  'I told you to run the tests first',
  'You should not have deleted it.',
  'From now on, please always run the linter',
];
const COMPLETIONS = ['Thanks!', 'Perfect, that works now.', 'LGTM', 'ok, everything works', "That's all for today."];
const NEITHER = [
  'No problem, go on',
  'No idea, what do you think?',
  'Add a button to the page',
  'Great, but why does it fail on Windows?',
  'Does it work?',
  'Write a test for: "No, that is wrong"'.padStart(400, 'x '),
  'Noodles are wrongly sorted in the list',
  '',
];

test('corrections and thanks are told from other messages', () => {
  const stances = (texts: string[]) => [...new Set(texts.map((text) => stanceOf(text)))];
  assert.deepEqual([CORRECTIONS, COMPLETIONS, NEITHER].map(stances), [['correction'], ['completion'], [undefined]]);
});
