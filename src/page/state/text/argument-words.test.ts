import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toArgumentsText, toArgumentWords } from './argument-words.ts';

test('arguments are separated by spaces, and quotes keep spaces together', () => {
  assert.deepEqual(toArgumentWords('  push  origin main '), ['push', 'origin', 'main']);
  assert.deepEqual(toArgumentWords(`-m "two words" --x='a b'c ""`), ['-m', 'two words', '--x=a bc', '']);
  assert.deepEqual(toArgumentWords('say "open'), ['say', 'open']);
  assert.deepEqual(toArgumentWords(''), []);
});

test('every list of arguments survives the way into a line and back', () => {
  for (const words of [[], [''], ['a', '', 'b c'], ["it's", '"'], [`'"'`], ['x\ny', "''"]])
    assert.deepEqual(toArgumentWords(toArgumentsText(words)), words);
});
