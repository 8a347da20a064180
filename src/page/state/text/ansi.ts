/** The style of a piece of terminal output. An absent field means the default. */
export interface AnsiStyle {
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
  strike?: true;
  inverse?: true;
  hidden?: true;
  foreground?: AnsiColour;
  background?: AnsiColour;
}

/** One of the 16 colours of the theme, or an RGB colour. */
export type AnsiColour = { kind: 'palette'; index: number } | { kind: 'rgb'; red: number; green: number; blue: number };

export interface AnsiRun {
  text: string;
  style: AnsiStyle;
}

/** One line in its final state, without its line end. */
export type AnsiLine = readonly AnsiRun[];

export interface AnsiText {
  lines: readonly AnsiLine[];
  /** The style of the text that would follow. */
  style: AnsiStyle;
}

const PLAIN: AnsiStyle = {};

/**
 * Interprets program output as a terminal would. Colours and emphasis become styles. Carriage returns, backspaces and
 * "erase line" are applied, so a progress bar shows its last state. All other control characters and sequences (titles,
 * links, cursor moves) are dropped. The result is data, so output can never become markup.
 */
export function parseAnsi(printed: string, start: AnsiStyle = PLAIN): AnsiText {
  const lines: AnsiLine[] = [];
  let style = Object.keys(start).length === 0 ? PLAIN : start;
  let line = new Line();
  for (const [token, csi] of printed.matchAll(TOKENS)) {
    if (token === '\n') {
      lines.push(line.runs());
      line = new Line();
    } else if (csi?.endsWith('m')) style = toStyle(style, csi.slice(0, -1));
    else if (csi === undefined) line.print(token, style);
    else if (csi.endsWith('K')) line.erase(csi.slice(0, -1));
  }
  return { lines: [...lines, line.runs()], style };
}

/** The text without styles, for copying and searching. */
export const toPlainText = (printed: string): string =>
  parseAnsi(printed)
    .lines.map((line) => line.map(({ text }) => text).join(''))
    .join('\n');

/** The escape sequence for this style, starting from the default style. */
export function toSgr(style: AnsiStyle): string {
  const codes = [
    ...FLAGS.flatMap(([code, flag]) => (style[flag] ? [code] : [])),
    ...toColourCodes(style.foreground, 30),
    ...toColourCodes(style.background, 40),
  ];
  return codes.length === 0 ? '' : `\u001b[${codes.join(';')}m`;
}

function toColourCodes(colour: AnsiColour | undefined, base: 30 | 40): number[] {
  if (!colour) return [];
  return colour.kind === 'palette' ? [base + 8, 5, colour.index] : [base + 8, 2, colour.red, colour.green, colour.blue];
}

/**
 * In this order: control sequences (the group has the parameters and the final letter); titles and links up to their
 * end or the end of the line, so that an unterminated one hides nothing more; short sequences; single controls; text.
 */
const TOKENS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this reads.
  /(?:\x1b\[|\x9b)([\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e])|(?:\x1b\[|\x9b)[\x30-\x3f]*[\x20-\x2f]*|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x9c|\x1b\\)?|\x1b[\x20-\x2f]*[\x30-\x7e]?|[\n\r\b]|[^\x00-\x08\x0a-\x1f\x7f-\x9f]+|[\s\S]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this tells apart.
const STRIPPED = /^[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

interface Cell {
  char: string;
  style: AnsiStyle;
}

/** One line of a terminal. Only an overwritten line needs a cell per character. */
class Line {
  #runs: AnsiRun[] = [];
  #cells: Cell[] | undefined;
  #column = 0;
  #isAtStart = false;
  /** The cells that were written since they were last erased are among these. The others need not be erased again. */
  #written = { from: 0, to: 0 };

  /** Prints a control character, a sequence other than a colour, or text. */
  print(token: string, style: AnsiStyle): void {
    if (token === '\r') this.#toStart();
    else if (token === '\b') this.#back();
    else if (!STRIPPED.test(token)) this.#write(token, style);
  }

  #write(text: string, style: AnsiStyle): void {
    if (this.#isAtStart && this.#column === 0) this.#toCells();
    const cells = this.#cells;
    if (!cells) {
      append(this.#runs, text, style);
      return;
    }
    this.#written.from = Math.min(this.#written.from, this.#column);
    for (const char of text) {
      cells[this.#column] = { char, style };
      this.#column += 1;
    }
    this.#written.to = Math.max(this.#written.to, this.#column);
  }

  #toStart(): void {
    this.#isAtStart = true;
    this.#column = 0;
  }

  #back(): void {
    if (this.#isAtStart && !this.#cells) return;
    this.#toCells();
    this.#column = Math.max(0, this.#column - 1);
  }

  /** `0` or empty: from the cursor to the end; `1`: up to the cursor; `2`: the whole line. */
  erase(mode: string): void {
    const isAtEnd = !this.#isAtStart && !this.#cells;
    if (isAtEnd && mode !== '1' && mode !== '2') return;
    this.#toCells();
    if (mode === '1' || mode === '2') this.#blank(mode === '1' ? this.#column + 1 : this.#column);
    if (this.#cells && ['', '0', '2'].includes(mode)) {
      this.#cells.length = this.#column;
      this.#written.to = Math.min(this.#written.to, this.#column);
    }
  }

  runs(): AnsiLine {
    if (!this.#cells) return this.#runs;
    const runs: AnsiRun[] = [];
    for (const { char, style } of this.#cells) append(runs, char, style);
    return runs;
  }

  /** Erases what stands before a column. */
  #blank(end: number): void {
    const { from, to } = this.#written;
    this.#cells?.fill(BLANK, from, Math.min(end, to));
    this.#written.from = Math.max(from, end);
  }

  /** Keeps the column: the start after a carriage return, else after the last character. */
  #toCells(): void {
    if (this.#cells) return;
    this.#cells = this.#runs.flatMap(({ text, style }) => Array.from(text, (char) => ({ char, style })));
    this.#written = { from: 0, to: this.#cells.length };
    if (!this.#isAtStart) this.#column = this.#cells.length;
  }
}

const BLANK: Cell = { char: ' ', style: PLAIN };

function append(runs: AnsiRun[], text: string, style: AnsiStyle): void {
  const last = runs.at(-1);
  if (last?.style === style) runs[runs.length - 1] = { text: last.text + text, style };
  else runs.push({ text, style });
}

type Flag = Exclude<keyof AnsiStyle, Side>;
/** The codes that switch each style on and off. */
const FLAGS: readonly (readonly [on: number, flag: Flag, off: number])[] = [
  [1, 'bold', 22],
  [2, 'dim', 22],
  [3, 'italic', 23],
  [4, 'underline', 24],
  [7, 'inverse', 27],
  [8, 'hidden', 28],
  [9, 'strike', 29],
];

function toStyle(before: AnsiStyle, parameters: string): AnsiStyle {
  if (!/^[\d;:]*$/.test(parameters)) return before; // `\x1b[>4m` and the like set modes of a keyboard
  const codes = parameters.split(';').map((part) => part.split(':').map(Number));
  let style = { ...before };
  while (codes.length > 0) style = applyCode(style, codes);
  return Object.keys(style).length === 0 ? PLAIN : style;
}

/** Removes one code and its parameters from the list and applies it. */
function applyCode(style: AnsiStyle, codes: number[][]): AnsiStyle {
  const [code = 0, ...more] = codes.shift() ?? [];
  switch (code) {
    case 0:
      return {};
    case 38:
      return paint(style, 'foreground', more.length > 0 ? toColour(more) : takeColour(codes));
    case 39:
      return without(style, 'foreground');
    case 48:
      return paint(style, 'background', more.length > 0 ? toColour(more) : takeColour(codes));
    case 49:
      return without(style, 'background');
  }
  const palette = toPaletteIndex(code);
  if (!palette) return applyFlag(style, code, more);
  return paint(style, palette.side, { kind: 'palette', index: palette.index });
}

type Side = 'foreground' | 'background';

const paint = (style: AnsiStyle, side: Side, colour: AnsiColour | undefined): AnsiStyle =>
  colour ? { ...style, [side]: colour } : style;

function applyFlag(style: AnsiStyle, code: number, more: readonly number[]): AnsiStyle {
  const isOff = code === 4 && more[0] === 0; // `4:0` is no underline
  const on = FLAGS.find(([number]) => number === code && !isOff);
  if (on) return { ...style, [on[1]]: true };
  const off = FLAGS.filter(([number, , end]) => end === code || (isOff && number === 4)).map(([, flag]) => flag);
  if (off.length === 0) return style;
  return without(style, ...off);
}

function without(style: AnsiStyle, ...names: (keyof AnsiStyle)[]): AnsiStyle {
  const after = { ...style };
  for (const name of names) delete after[name];
  return after;
}

function toPaletteIndex(code: number): { side: Side; index: number } | undefined {
  if (code >= 30 && code <= 37) return { side: 'foreground', index: code - 30 };
  if (code >= 40 && code <= 47) return { side: 'background', index: code - 40 };
  if (code >= 90 && code <= 97) return { side: 'foreground', index: code - 82 };
  if (code >= 100 && code <= 107) return { side: 'background', index: code - 92 };
  return undefined;
}

/** `38;5;n` and `38;2;r;g;b`, as nearly all programs write them. */
function takeColour(codes: number[][]): AnsiColour | undefined {
  const kind = codes.shift()?.[0];
  const count = kind === 5 ? 1 : kind === 2 ? 3 : 0;
  return toColour([kind ?? 0, ...codes.splice(0, count).map(([code = 0]) => code)]);
}

/** `5, n`; `2, r, g, b`; and with colons also `2, space, r, g, b`. */
function toColour([kind, ...values]: readonly number[]): AnsiColour | undefined {
  if (!values.every((value) => Number.isInteger(value) && value >= 0 && value <= 255)) return undefined;
  const [first, ...others] = values;
  if (kind === 5 && first !== undefined) return toIndexedColour(first);
  if (kind !== 2) return undefined;
  const [red, green, blue] = values.length >= 4 ? others : values;
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  return { kind: 'rgb', red, green, blue };
}

const CUBE = [0, 95, 135, 175, 215, 255];

/** The sixteen of the theme, a cube of 216 colours, 24 greys. */
function toIndexedColour(index: number): AnsiColour {
  if (index < 16) return { kind: 'palette', index };
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return { kind: 'rgb', red: grey, green: grey, blue: grey };
  }
  const place = index - 16;
  const level = (step: number) => CUBE[step % 6] ?? 0;
  return { kind: 'rgb', red: level(Math.floor(place / 36)), green: level(Math.floor(place / 6)), blue: level(place) };
}
