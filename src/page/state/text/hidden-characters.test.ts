import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showHidden } from './hidden-characters.ts';

test('characters that reorder text are made visible; those that languages need stay', () => {
  assert.equal(showHidden('a\u202eb\u2066c\u2069'), 'a\\u202eb\\u2066c\\u2069');
  assert.equal(showHidden('שלום\u200f \u200d👩'), 'שלום\u200f \u200d👩');
});
