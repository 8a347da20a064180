import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldLine, hasLongLine, toChunks } from './text-chunks.ts';

test('joined chunks are the text; while it grows, only the last chunk changes', () => {
  const lines = fc.array(fc.string({ maxLength: 5 }), { maxLength: 400 }).map((all) => all.join('\n'));
  fc.assert(
    fc.property(lines, lines, (text, more) => {
      const chunks = toChunks(text);
      assert.equal(chunks.join('\n'), text);
      const grown = toChunks(`${text}${more}`);
      assert.deepEqual(grown.slice(0, chunks.length - 1), chunks.slice(0, -1));
    }),
  );
});

test('a long line is folded into rows without splitting a character', () => {
  const line = '𝄞x'.repeat(5_000);
  const rows = foldLine(line);
  assert.equal(rows.join(''), line);
  for (const row of rows) assert.ok(row.length <= 2_000 && row.isWellFormed());
  assert.deepEqual([hasLongLine(`a\n${line}`), hasLongLine('a\nb')], [true, false]);
});
