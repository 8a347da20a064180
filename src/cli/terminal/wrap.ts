import wrapAnsi from 'wrap-ansi';
import { widthOf } from './width.ts';

/** Prose as rows of at most `columns`, broken between words. `first` comes before the first row, `rest` before all others. */
export function wrapWords(text: string, columns: number, { first = '', rest = '' } = {}): string[] {
  const room = Math.max(MIN_COLUMNS, columns - Math.max(widthOf(first), widthOf(rest)));
  const isOneRow = !text.includes('\n') && text === text.trim() && widthOf(text) <= room; // most are, and wrapping is slow
  const rows = isOneRow ? [text] : wrapAnsi(text, room, { hard: true }).split('\n');
  return rows.map((row, index) => `${index === 0 ? first : rest}${row}`);
}

/** Lines of a notice or a table. A line that is too long is broken between words, and its further rows are indented by two more columns. */
export const wrapLines = (text: string, columns: number): string[] =>
  text.split('\n').flatMap((line) => {
    if (widthOf(line) <= columns) return [line];
    const first = /^ */.exec(line)?.[0] ?? '';
    return wrapWords(line.trim(), columns, { first, rest: `${first}  ` });
  });

/** A command or a message as rows, broken between words where it has some. None of its spaces is lost. */
export function toWordRows(line: string, columns: number, { first = '', rest = '' } = {}): string[] {
  const room = Math.max(MIN_COLUMNS, columns - Math.max(widthOf(first), widthOf(rest)));
  const rows = widthOf(line) <= room ? [line] : wrapAnsi(line, room, { hard: true, trim: false }).split('\n');
  return rows.map((row, index) => `${index === 0 ? first : rest}${row}`);
}

/** A line as the rows that a terminal makes of it: broken at any character, with all spaces. */
export function toRows(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line];
  return wrapAnsi(line, columns, { hard: true, trim: false, wordWrap: false }).split('\n');
}

/** How many rows a terminal needs for a line. */
export const countRows = (line: string, columns: number): number => Math.max(1, Math.ceil(widthOf(line) / columns));

/** The line as one row, cut if it does not fit. */
export function cutToRow(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const [row = ''] = toRows(line, Math.max(1, columns - 1));
  return `${row}…`;
}

/** The minimum width of a layout; on a narrower terminal, rows overflow. */
const MIN_COLUMNS = 8;
