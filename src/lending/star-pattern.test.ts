import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitsStars } from './star-pattern.ts';

for (const [pattern, fitting, others] of [
  ['a', ['a'], ['', 'aa', 'A']],
  ['*', ['', 'a', 'a.b'], []],
  ['a*', ['a', 'ab'], ['', 'ba']],
  ['*.log', ['.log', 'x.log'], ['log', 'x.log.']],
  ['a*a', ['aa', 'aba'], ['a']],
  ['a*b*c', ['abc', 'a1b2c', 'abbc'], ['acb', 'ac', 'abcd']],
  ['a*bc*c', ['abcc', 'abcxc'], ['abc']],
  ['**', ['', 'x'], []],
  ['a.b', ['a.b'], ['axb']],
] as const) {
  test(`${pattern} fits ${fitting.map((text) => `"${text}"`).join(', ')} and nothing else`, () => {
    assert.deepEqual(
      fitting.filter((text) => !fitsStars(pattern, text)),
      [],
    );
    assert.deepEqual(
      others.filter((text) => fitsStars(pattern, text)),
      [],
    );
  });
}

// With backtracking, this would exceed the runner's time limit.
test('a pattern of many stars does not backtrack', () => {
  assert.equal(fitsStars(`${'*a'.repeat(1_000)}b`, 'a'.repeat(100_000)), false);
});
