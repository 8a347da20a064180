import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrowingText } from './growing-text.ts';

const GOES_ON = '\n[The text continues; chat.history has all of it.]';

test('samples have the whole text and its new part', () => {
  const text = new GrowingText();
  text.add('a');
  assert.deepEqual([text.isDirty, text.sample(), text.isDirty], [true, { text: 'a', delta: 'a' }, false]);
  text.add('b');
  assert.deepEqual(text.sample(), { text: 'ab', delta: 'b' });
  text.forget();
  assert.deepEqual([text.text, text.isDirty], ['', false]);
});

test('a long text is sent up to 128 Ki characters, with a note that it continues', () => {
  const text = new GrowingText();
  text.add('x'.repeat(128 * 1024));
  assert.equal(text.sample().text.length, 128 * 1024);
  text.add('y');
  assert.equal(text.sample().delta, GOES_ON);
  text.add('z'.repeat(1_000_000));
  assert.equal(text.isDirty, false);
  text.forget();
  text.add('again');
  assert.equal(text.text, 'again');
});

test('no character is split', () => {
  const text = new GrowingText();
  text.add('x'.repeat(128 * 1024 - 1));
  text.add('😀');
  assert.equal(text.text.slice(128 * 1024 - 1), `\ufffd${GOES_ON}`);
});
