import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyPatch, createTwoFilesPatch, diffLines, FILE_HEADERS_ONLY } from 'diff';
import fc from 'fast-check';
import { toDiff } from './file-diff.ts';

test('all of a created, emptied or deleted file is a diff, as a comparison would give it', () => {
  const part = fc.constantFrom('a', '\n', '\r\n', '\r', '+', '-- x', '\\ No newline at end of file', '\u2028');
  fc.assert(
    fc.property(fc.array(part), fc.constantFrom(undefined, ''), (parts, none) => {
      const text = parts.join('');
      const compare = (from: string, to: string, [before, after]: [string, string]) =>
        createTwoFilesPatch(from, to, before, after, '', '', { headerOptions: FILE_HEADERS_ONLY });
      const name = none === undefined ? '/dev/null' : 'x';
      assert.equal(toDiff({ shown: 'x', before: none, after: text }), compare(name, 'x', ['', text]));
      assert.equal(toDiff({ shown: 'x', before: text, after: none }), compare('x', name, [text, '']));
    }),
  );
});

test('a created file of 300,000 lines is a diff, however slow the machine is', (t) => {
  let nowMs = 0;
  t.mock.method(Date, 'now', () => (nowMs += 1_000)); // each look at the clock takes a second
  const after = Array.from({ length: 300_000 }, (_, index) => `line ${index}\n`).join('');
  assert.match(
    toDiff({ shown: 'x', before: undefined, after }),
    /^--- \/dev\/null\n\+\+\+ x\n@@ -0,0 \+1,300000 @@\n\+line 0\n/,
  );
});

test('a changed file has the diff with the fewest changes, which leads from the old text to the new one', () => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'a\r\n', '- x\n', '\\ No newline at end of file\n');
  const text = fc
    .tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom('', 'a', 'end'))
    .map(([lines, end]) => lines.join('') + end);
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = toDiff({ shown: 'x', before, after });
      assert.equal(before === after ? before : applyPatch(before, diff), after);
      const fewest = diffLines(before, after).filter(({ added, removed }) => added || removed);
      const changed = diff
        .split('\n')
        .slice(2)
        .filter((one) => /^[-+]/.test(one));
      assert.equal(
        changed.length,
        fewest.reduce((sum, { count }) => sum + count, 0),
      );
    }),
  );
});

test('a changed file has the hunks that a comparison of all of it would give', () => {
  const change = fc.constantFrom('keep', 'keep', 'keep', 'keep', 'remove', 'replace', 'add');
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), fc.boolean(), (changes, isEnded) => {
      const end = isEnded ? '\n' : '';
      const before = changes.map((_, index) => `line ${index}`).join('\n') + end;
      const kept = { keep: [''], remove: [], replace: [' new'], add: ['', ' more'] };
      const after = changes.flatMap((one, index) => kept[one].map((more) => `line ${index}${more}`)).join('\n') + end;
      const expected = createTwoFilesPatch('x', 'x', before, after, '', '', {
        context: 3,
        headerOptions: FILE_HEADERS_ONLY,
      });
      assert.equal(toDiff({ shown: 'x', before, after }), expected);
    }),
  );
});

test('many changes of a long file are a diff of just those, however slow the machine is', (t) => {
  let nowMs = 0;
  t.mock.method(Date, 'now', () => (nowMs += 1_000)); // each look at the clock takes a second
  const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index}\n`);
  const changed = lines.map((line, index) => (index % 10 === 0 ? `new ${line}` : line));
  const diff = toDiff({ shown: 'x', before: lines.join(''), after: changed.join('') });
  assert.equal(diff.match(/^\+new line/gm)?.length, 3_000);
  assert.equal(diff.match(/^-line/gm)?.length, 3_000);
});

test('of texts whose lines are too mixed up to compare, all lines between their common beginning and end are replaced', () => {
  const noise = (seed: number) => Array.from({ length: 30_000 }, (_, n) => `${(n * seed) % 9_973}\n`);
  const around = (lines: string[]) => ['first\n', ...lines, 'last'].join('');
  const [old, now] = [noise(7_919).slice(1), noise(6_151).slice(1)]; // both begin with 0
  assert.equal(
    toDiff({ shown: 'x', before: around(old), after: around(now) }),
    [
      '--- x\n+++ x\n@@ -1,30001 +1,30001 @@\n first\n',
      ...old.map((line) => `-${line}`),
      ...now.map((line) => `+${line}`),
      ' last\n\\ No newline at end of file\n',
    ].join(''),
  );
});

test('of texts with more than a million lines between their common beginning and end, all those are replaced', () => {
  const lines = 'x\n'.repeat(500_001);
  const text = (first: string, last: string) => `a\nb\nc\nd\n${first}${lines}${last}e\nf\ng\nh`;
  assert.equal(
    toDiff({ shown: 'x', before: text('1\n', '1\n'), after: text('2\n', '2\n') }),
    [
      '--- x\n+++ x\n@@ -2,500009 +2,500009 @@\n b\n c\n d\n',
      ...['-', '+'].flatMap((sign) => [`${sign}N\n`, `${sign}x\n`.repeat(500_001), `${sign}N\n`]),
      ' e\n f\n g\n',
    ]
      .join('')
      .replaceAll('-N', '-1')
      .replaceAll('+N', '+2'),
  );
});
