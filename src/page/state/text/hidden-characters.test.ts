import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showHidden } from './hidden-characters.ts';

test('what reorders a text is made visible, what languages need is left alone', () => {
  assert.equal(showHidden('a\u202eb\u2066c\u2069'), 'a\\u202eb\\u2066c\\u2069');
  assert.equal(showHidden('שלום\u200f \u200d👩'), 'שלום\u200f \u200d👩');
});
