import { toVisibleText } from './visible-text.ts';

/** A part of a line: text, or a note about text that is left out. */
export interface EndsPiece {
  text: string;
  isNote: boolean;
}

/** One shown line. */
export type EndsLine = readonly EndsPiece[];

/** The space for a text. */
export interface Room {
  rows: number;
  columns: number;
}

/** The shown part of a text. */
export interface TextEnds {
  lines: readonly EndsLine[];
  /** Nothing was left out. */
  isWhole: boolean;
}

/** A text, parsed once so that it can be cut to several sizes. */
export interface ReadText {
  lines: readonly string[];
  /** The lines, with each run of equal lines counted. */
  counted: readonly CountedLine[];
}

interface CountedLine {
  piece: EndsPiece;
  /** How many lines of the text it stands for, and their characters including line ends. */
  lines: number;
  chars: number;
}

/** Parses a text that a person has to judge: invisible characters are written out, and blank lines at the end are kept. */
export function readText(text: string): ReadText {
  const lines = toVisibleText(text).replace(/\n$/, '').split('\n');
  return { lines, counted: countRuns(lines) };
}

/**
 * The beginning and the end of a text, with a note between them about what is left out. However long the middle is, it
 * cannot push the end out of sight. A text that fits is shown in full; if space is short, a run of equal lines, such as
 * blank ones, is counted.
 */
export function toTextEnds({ lines, counted }: ReadText, room: Room): TextEnds {
  if (fits(lines, room)) return { lines: lines.map((text) => [{ text, isNote: false }]), isWhole: true };
  const texts = counted.map(({ piece }) => piece.text);
  if (fits(texts, room)) return { lines: counted.map(({ piece }) => [piece]), isWhole: false };
  const [only] = counted;
  if (only && counted.length === 1) return { lines: [cut(only, room)], isWhole: false };
  const tailRows = Math.max(1, Math.min(room.rows - 2, Math.ceil((room.rows - 1) * TAIL_SHARE)));
  const tail = take(counted.toReversed(), { ...room, rows: tailRows }).reverse();
  const before = counted.slice(0, counted.length - tail.length);
  const head = take(before, { ...room, rows: Math.max(1, room.rows - 1 - tailRows) });
  const left = before.slice(head.length);
  const note = left.length === 0 ? [] : [[toNote(left)]];
  return { lines: [...head, ...note, ...tail], isWhole: false };
}

/** One line of at most about so many cells. A longer line is cut to its beginning and its end. */
export function toLineEnds(line: string, cells: number): EndsLine {
  if (fitsCells(line, cells)) return [{ text: line, isNote: false }];
  const room = Math.max(MIN_ENDS, cells - NOTE_CELLS);
  const tailCells = Math.ceil(room * TAIL_SHARE);
  const head = takeCells(Array.from(line.slice(0, room * MAX_CELL)), room - tailCells);
  const tail = takeCells(Array.from(line.slice(-room * MAX_CELL)).reverse(), tailCells).toReversed();
  const left = line.length - toLength(head) - toLength(tail);
  if (left <= 0) return [{ text: line, isNote: false }];
  return [
    { text: head.join(''), isNote: false },
    { text: ` … ${count(left, 'character')} … `, isNote: true },
    { text: tail.join(''), isNote: false },
  ];
}

const toLength = (characters: readonly string[]) => characters.reduce((sum, { length }) => sum + length, 0);

/** The cells of ` … 12,480 characters … `, and the minimum for both ends of a line. */
const NOTE_CELLS = 24;
const MIN_ENDS = 20;
/** The end gets more space, because dangerous text would be hidden there rather than at the beginning. */
const TAIL_SHARE = 0.6;
/** The most code units of a character with its marks, after excess marks have been written out. */
const MAX_CELL = 12;

/** More consecutive equal lines than this are a run. */
const RUN_LINES = 3;
const isBlank = (line: string) => line.trim() === '';

function countRuns(lines: readonly string[]): CountedLine[] {
  const counted: CountedLine[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = endOfRun(lines, at);
    counted.push(...toCountedRun(lines.slice(at, end)));
    at = end;
  }
  return counted;
}

function endOfRun(lines: readonly string[], at: number): number {
  const text = lines[at] ?? '';
  const isSame = isBlank(text) ? isBlank : (line: string) => line === text;
  let end = at + 1;
  while (end < lines.length && isSame(lines[end] ?? '')) end += 1;
  return end;
}

function toCountedRun(run: readonly string[]): CountedLine[] {
  const [text = ''] = run;
  if (run.length <= RUN_LINES) return run.map(toCounted);
  if (isBlank(text)) return [toRun(run, `… ${count(run.length, 'blank line')} …`)];
  return [toCounted(text), toRun(run.slice(1), `… ${count(run.length - 1, 'more line')} like this …`)];
}

const toCounted = (text: string): CountedLine => ({
  piece: { text, isNote: false },
  lines: 1,
  chars: text.length + 1,
});

const toRun = (run: readonly string[], note: string): CountedLine => ({
  piece: { text: note, isNote: true },
  lines: run.length,
  chars: run.reduce((sum, line) => sum + line.length + 1, 0),
});

function toNote(left: readonly CountedLine[]): EndsPiece {
  const lines = left.reduce((sum, each) => sum + each.lines, 0);
  const chars = left.reduce((sum, each) => sum + each.chars, 0);
  return { text: `… ${count(lines, 'line')} (${count(chars, 'character')}) left out …`, isNote: true };
}

/** Lines from the start that fit; the last one may be cut. Returns at least one line if rows are left. */
function take(counted: readonly CountedLine[], { rows, columns }: Room): EndsLine[] {
  const taken: EndsLine[] = [];
  let left = rows;
  for (const line of counted) {
    if (left <= 0) break;
    taken.push(cut(line, { rows: left, columns }));
    left -= rowsOf(line.piece.text, { rows: left, columns });
  }
  return taken;
}

const cut = ({ piece }: CountedLine, { rows, columns }: Room): EndsLine =>
  piece.isNote ? [piece] : toLineEnds(piece.text, rows * columns);

function fits(lines: readonly string[], { rows, columns }: Room): boolean {
  let left = rows;
  for (const line of lines) {
    if (left <= 0 || !fitsCells(line, left * columns)) return false;
    left -= rowsOf(line, { rows: left, columns });
  }
  return left >= 0;
}

/** How many rows a line takes, up to `rows`. */
function rowsOf(line: string, { rows, columns }: Room): number {
  let cells = 0;
  for (const character of line) {
    cells += cellsOf(character);
    if (cells > rows * columns) return rows;
  }
  return Math.max(1, Math.ceil(cells / columns));
}

function fitsCells(line: string, cells: number): boolean {
  let used = 0;
  for (const character of line) {
    used += cellsOf(character);
    if (used > cells) return false;
  }
  return true;
}

function takeCells(characters: readonly string[], cells: number): readonly string[] {
  let used = 0;
  const end = characters.findIndex((character) => {
    used += cellsOf(character);
    return used > cells;
  });
  return end < 0 ? characters : characters.slice(0, end);
}

const TAB_CELLS = 4;

function cellsOf(character: string): number {
  if (character < '\u0300') return character === '\t' ? TAB_CELLS : 1;
  if (/\p{M}/u.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Characters that take two columns: roughly the scripts of East Asia, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{3fffd}]/u;

const count = (many: number, what: string): string => `${many.toLocaleString('en')} ${what}${many === 1 ? '' : 's'}`;
