import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AnsiLine, type AnsiStyle, parseAnsi, toPlainText, toSgr } from './ansi.ts';

const ESC = '\u001b';
const sgr = (codes: string) => `${ESC}[${codes}m`;
/** The style that a text printed after these codes has. */
const styleOf = (...codes: string[]): AnsiStyle | undefined =>
  parseAnsi(`${codes.map(sgr).join('')}x`).lines[0]?.[0]?.style;

test('colours and emphasis of every notation become styles', () => {
  const red = { kind: 'palette', index: 1 };
  assert.deepEqual(
    [
      styleOf('1;3;4;31'),
      styleOf('91'),
      styleOf('38;5;1;7'),
      styleOf('38;5;208'),
      styleOf('48;5;232'),
      styleOf('38;2;1;2;3'),
      styleOf('38:2::1:2:3;1'),
      styleOf('38:5:1'),
      styleOf('41;2;9'),
      styleOf('4:3'),
    ],
    [
      { bold: true, italic: true, underline: true, foreground: red },
      { foreground: { kind: 'palette', index: 9 } },
      { foreground: red, inverse: true },
      { foreground: { kind: 'rgb', red: 255, green: 135, blue: 0 } },
      { background: { kind: 'rgb', red: 8, green: 8, blue: 8 } },
      { foreground: { kind: 'rgb', red: 1, green: 2, blue: 3 } },
      { foreground: { kind: 'rgb', red: 1, green: 2, blue: 3 }, bold: true },
      { foreground: red },
      { background: red, dim: true, strike: true },
      { underline: true },
    ],
  );
});

test('each code that ends a style ends only that style', () => {
  const all = '1;2;3;4;7;9;31;42';
  assert.deepEqual(
    ['0', '', '22', '23', '24', '4:0', '27', '29', '39', '49'].map((code) => Object.keys(styleOf(all, code) ?? {})),
    [
      [],
      [],
      ['italic', 'underline', 'inverse', 'strike', 'foreground', 'background'],
      ['bold', 'dim', 'underline', 'inverse', 'strike', 'foreground', 'background'],
      ['bold', 'dim', 'italic', 'inverse', 'strike', 'foreground', 'background'],
      ['bold', 'dim', 'italic', 'inverse', 'strike', 'foreground', 'background'],
      ['bold', 'dim', 'italic', 'underline', 'strike', 'foreground', 'background'],
      ['bold', 'dim', 'italic', 'underline', 'inverse', 'foreground', 'background'],
      ['bold', 'dim', 'italic', 'underline', 'inverse', 'strike', 'background'],
      ['bold', 'dim', 'italic', 'underline', 'inverse', 'strike', 'foreground'],
    ],
  );
});

test('colours that are out of range, incomplete or unknown are ignored', () => {
  for (const codes of ['38;5;256', '38;2;300;0;0', '38;5', '38', '38;2;1;2', '>4', '?25']) {
    assert.deepEqual(styleOf(codes), {}, codes);
  }
});

test('titles, links and cursor moves leave only their text', () => {
  const printed = `${sgr('1;31')}red${sgr('0')} ${ESC}]0;title\u0007${ESC}]8;;http://x${ESC}\\link${ESC}]8;;${ESC}\\ ${ESC}[3A${ESC}(Bend`;
  assert.equal(toPlainText(printed), 'red link end');
});

test('an unterminated title hides nothing beyond its line', () => {
  assert.equal(toPlainText(`before${ESC}]0;lost\nafter`), 'before\nafter');
});

test('an overwritten line shows its last state, including the parts not overwritten', () => {
  assert.equal(toPlainText('10 %\r50 %\r100 %\nnext\r\n'), '100 %\nnext\n');
  assert.equal(toPlainText('abcdef\rXY'), 'XYcdef');
  assert.equal(toPlainText(`loading...\r${ESC}[Kdone`), 'done');
  assert.equal(toPlainText(`abc${ESC}[2K\rx`), 'x  ');
  assert.equal(toPlainText(`abcd\u0008\u0008${ESC}[K`), 'ab');
  assert.equal(toPlainText('|\u0008/\u0008-\u0008\\'), '\\');
});

test('overwriting part of a line keeps the colours of the rest', () => {
  const { lines } = parseAnsi(`${sgr('31')}abc${sgr('0')}\rX`);
  assert.deepEqual(
    lines[0]?.map(({ text, style }) => [text, style]),
    [
      ['X', {}],
      ['bc', { foreground: { kind: 'palette', index: 1 } }],
    ],
  );
});

test('bells are dropped, tabs and line ends stay', () => {
  assert.equal(toPlainText('a\u0007\tb\u0008\nc'), 'a\tb\nc');
});

test('parsing one long line takes linear time', () => {
  const line = 'x'.repeat(1_000_000);
  assert.equal(toPlainText(line), line);
});

test('erasing a long line again and again takes linear time', () => {
  for (const mode of ['1', '2']) {
    const printed = `${'x'.repeat(200_000)}${`${ESC}[${mode}Ky\b`.repeat(50_000)}`;
    const { length } = toPlainText(printed);
    assert.ok(length >= 200_000 && length <= 200_001);
  }
});

test('what was erased before stays blank, and what was written since is erased', () => {
  const erase = (mode: number) => `${ESC}[${mode}K`;
  assert.equal(toPlainText(`abcdef\b\b${erase(1)}\rxy${erase(1)}z`), '  z  f');
  assert.equal(toPlainText(`abcdef\rxy${erase(2)}z\r${erase(2)}`), '');
  assert.equal(toPlainText(`abc${erase(2)}\rxy${erase(2)}\rz`), 'z ');
  assert.equal(toPlainText(`abc\b\b${erase(0)}d${erase(1)}`), '  ');
});

const anything = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        ...['\r', '\b', '\n', '\t', '\u009b31m', `${ESC}[K`, `${ESC}[2K`, `${ESC}]8;;javascript:x\u0007`],
      ),
      fc.array(fc.integer({ min: 0, max: 120 }), { maxLength: 6 }).map((codes) => sgr(codes.join(';'))),
    ),
  )
  .map((parts) => parts.join(''));

test('for any output, no control character except tab remains and every colour is valid', () => {
  fc.assert(
    fc.property(anything, (printed) => {
      for (const { text, style } of parseAnsi(printed).lines.flat()) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there.
        assert.doesNotMatch(text, /[\x00-\x08\x0a-\x1f\x7f-\x9f]/);
        for (const colour of [style.foreground, style.background]) if (colour) assert.ok(isColour(colour));
      }
    }),
  );
});

const isColour = (colour: NonNullable<AnsiStyle['foreground']>) => {
  const numbers = colour.kind === 'palette' ? [colour.index * 16] : [colour.red, colour.green, colour.blue];
  return numbers.every((number) => Number.isInteger(number) && number >= 0 && number <= 255);
};

test('parsing line by line with the carried style equals parsing at once', () => {
  fc.assert(
    fc.property(anything, (printed) => {
      let style: AnsiStyle = {};
      const lines: AnsiLine[] = [];
      for (const line of printed.split('\n')) {
        const read = parseAnsi(line, style);
        lines.push(...read.lines);
        style = read.style;
      }
      assert.deepEqual({ lines, style }, parseAnsi(printed));
    }),
  );
});

test('a style converted to a sequence parses back to the same style', () => {
  fc.assert(
    fc.property(anything, (printed) => {
      const { style } = parseAnsi(printed);
      assert.deepEqual(parseAnsi(toSgr(style)).style, style);
    }),
  );
});
