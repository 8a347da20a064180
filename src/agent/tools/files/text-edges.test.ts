import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countLines, findDiffering } from './text-edges.ts';

/** Each with its line break; only the last one may be without. */
const linesOf = (text: string): string[] => (text === '' ? [] : text.split(/(?<=\n)/));

test('the lines around a difference are those that both texts begin and end with', () => {
  const line = fc.constantFrom('a\n', 'ab\n', 'b\n', '\n');
  const part = fc.array(line, { maxLength: 8 }).map((lines) => lines.join(''));
  const end = fc.constantFrom('', 'a', 'ab');
  fc.assert(
    fc.property(fc.tuple(part, part, part, part), end, end, ([first, old, now, last], oldEnd, nowEnd) => {
      const [before, after] = [first + old + last + oldEnd, first + now + last + nowEnd];
      const [left, right] = [linesOf(before), linesOf(after)];
      const shorter = Math.min(left.length, right.length);
      let start = 0;
      while (start < shorter && left[start] === right[start]) start += 1;
      let tail = 0;
      while (tail < shorter - start && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1;
      const [leadFrom, oldTo] = [Math.max(0, start - 2), left.length - tail];
      assert.deepEqual(findDiffering(before, after, 2), {
        skipped: leadFrom,
        lead: left.slice(leadFrom, start).join(''),
        old: left.slice(start, oldTo).join(''),
        now: right.slice(start, right.length - tail).join(''),
        tail: left.slice(oldTo, oldTo + 2).join(''),
      });
      assert.equal(countLines(before), left.length);
    }),
    { numRuns: 1_000 },
  );
});
