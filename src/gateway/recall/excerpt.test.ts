import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toExcerpt } from './excerpt.ts';

test('an excerpt shows the first of the words with some text around it, in one line', () => {
  const before = 'word '.repeat(100);
  const text = `${before}\n\nthe Harbour server is called kestrel. ${'more '.repeat(100)}`;
  const excerpt = toExcerpt(text, 'kestrel HARBOUR');
  assert.match(excerpt, /^… (word )+the Harbour server is called kestrel\. (more )+/);
  assert.ok(excerpt.length < 200 && excerpt.endsWith(' …'));
  assert.equal(toExcerpt('a short\n text', 'absent'), 'a short text');
});

test('an excerpt of one long word contains what was found, and no half of a character', () => {
  assert.equal(toExcerpt(`${'x'.repeat(100)}kestrel`, 'kestrel'), '… kestrel');
  assert.ok(toExcerpt(`${'x'.repeat(179)}😀`, 'x').isWellFormed());
});
