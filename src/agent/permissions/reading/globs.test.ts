import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toNameMatcher } from './globs.ts';

const fits = (glob: string, name: string): boolean => toNameMatcher(glob)(name);

test('a pattern matches the names that a shell finds, or more', () => {
  const matches: [glob: string, name: string][] = [
    ...[['*', 'a'] as const, ['a*c', 'abbc'] as const, ['a?c', 'a💡c'] as const, ['.*', '.env'] as const],
    ...[['[ab]x', 'ax'] as const, ['[[:alpha:]]', 'a'] as const, ['\\*', '*'] as const, ['a**', 'a'] as const],
    ...[['*.ts', 'a.ts'] as const, ['*a*b*', 'xaxbx'] as const, ['a\nb*', 'a\nbc'] as const, ['[', '['] as const],
  ].map(([glob, name]) => [glob, name]);
  assert.deepEqual(
    matches.filter(([glob, name]) => !fits(glob, name)),
    [],
  );
  assert.deepEqual(
    [fits('*', '.env'), fits('?env', '.env'), fits('\\*', 'a'), fits('*.ts', 'a.tsx')],
    [false, false, false, false],
  );
});

test('no pattern takes long, whatever names a folder has', () => {
  // A pattern that goes back to every star would try 10 to the power of 60 ways.
  assert.equal(fits(`${'*a'.repeat(100)}b`, 'a'.repeat(255)), false);
  assert.equal(fits('*'.repeat(100_000), 'a'.repeat(255)), true);
});
