import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toIgnorePatterns } from './ignore-patterns.ts';

const ignores = (text: string, path: string): boolean => toIgnorePatterns(text).test(path).ignored;

test('patterns ignore as in Git, also with Windows line endings, comments and exceptions', () => {
  const text = '# built\r\ndist/\r\n*.log\r\n!kept.log\r\n**/cache/**/tmp\r\n\\#odd\r\n';
  const paths = ['dist/a.js', 'a/b.log', 'kept.log', 'a/cache/b/c/tmp', 'a/cache.ts', '#odd', '# built'];
  assert.deepEqual(
    paths.map((path) => ignores(text, path)),
    [true, true, false, true, false, true, false],
  );
  assert.equal(toIgnorePatterns('*.log\n!kept.log').test('kept.log').unignored, true);
});

test('patterns and paths that take long are left out, and the others count', () => {
  const hostile = '**/a/**/a/**/a/b\n'.repeat(3) + '**/a/**/b\n'.repeat(100_000) + 'late\n';
  const deep = 'a/'.repeat(2_000);
  assert.deepEqual([ignores(hostile, `${deep}b`), ignores(hostile, 'x/a/y/b')], [false, true]);
  assert.deepEqual([ignores(hostile, `${'a/'.repeat(100)}c`), ignores(hostile, 'late')], [false, true]);
  const many = `${Array.from({ length: 10_000 }, (_, index) => `f${index}`).join('\n')}\nlast`;
  assert.deepEqual([ignores(many, 'f9999'), ignores(many, 'last')], [true, false]);
});
