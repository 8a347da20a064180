import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Prose as rows of at most `columns`, broken between words. `rest` stands before every row but the first. */
export function wrapWords(text: string, columns: number, { first = '', rest = '' } = {}): string[] {
  const room = Math.max(MIN_COLUMNS, columns - Math.max(stringWidth(first), stringWidth(rest)));
  const rows = wrapAnsi(text, room, { hard: true }).split('\n');
  return rows.map((row, index) => `${index === 0 ? first : rest}${row}`);
}

/** A line as the rows that a terminal makes of it: every column is filled, every space kept. */
export function toRows(line: string, columns: number): string[] {
  if (stringWidth(line) <= columns) return [line];
  return wrapAnsi(line, columns, { hard: true, trim: false, wordWrap: false }).split('\n');
}

/** How many rows a terminal needs for a line. */
export const countRows = (line: string, columns: number): number => Math.max(1, Math.ceil(stringWidth(line) / columns));

/** One row: what does not fit is left out. */
export function cutToRow(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line;
  const [row = ''] = toRows(line, Math.max(1, columns - 1));
  return `${row}…`;
}

/** Narrower than this nothing can be laid out; rows then run over. */
const MIN_COLUMNS = 8;
