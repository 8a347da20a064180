/** Rows per chunk. A chunk is laid out only near the screen. */
export const CHUNK_ROWS = 80;
/** A longer line continues in the next row: browsers take seconds to lay out a line of a megabyte. */
const MAX_ROW_CHARS = 2_000;

/**
 * Cuts a text into chunks of CHUNK_ROWS rows, joined by line ends. While a text grows, only its last chunk changes. A
 * line that is too long for one row takes several.
 */
export function toChunks(text: string, toRows: (line: string) => readonly string[] = foldLine): readonly string[] {
  const chunks: string[] = [];
  let rows: string[] = [];
  for (let at = 0; at <= text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    for (const row of toRows(text.slice(at, end))) {
      rows.push(row);
      if (rows.length < CHUNK_ROWS) continue;
      chunks.push(rows.join('\n'));
      rows = [];
    }
    at = end + 1;
  }
  if (rows.length > 0) chunks.push(rows.join('\n'));
  return chunks;
}

/** Folds a long line into rows without splitting a character. */
export function foldLine(line: string): readonly string[] {
  if (line.length <= MAX_ROW_CHARS) return [line];
  const rows: string[] = [];
  for (let at = 0; at < line.length; ) {
    const end = at + MAX_ROW_CHARS;
    const isInsidePair = /[\ud800-\udbff]/.test(line[end - 1] ?? '');
    rows.push(line.slice(at, isInsidePair ? end - 1 : end));
    at = isInsidePair ? end - 1 : end;
  }
  return rows;
}

/** Whether any line needs more than one row. */
export const hasLongLine = (text: string): boolean => text.split('\n').some((line) => line.length > MAX_ROW_CHARS);
