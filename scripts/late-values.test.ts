import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLateValue } from './bundle-plugins.js';

test('a constant is made at its first use, and a package that is written differently is refused', () => {
  const source = withLateValue(
    'const found = /a/v;\nexport const use = (text) => found.test(text);',
    /const found = (\/.*\/v);/,
  );
  assert.equal(source.split('\n').length, 2);
  const made = new Function(`${source.replace('export ', '')}; return use;`)();
  assert.deepEqual([made('a'), made('b')], [true, false]);
  assert.throws(() => withLateValue('const other = 1;', /const found = (\/.*\/v);/), /no line/);
});
