import type { Token, Tokens } from 'marked';

/** A table as lines for a monospaced block. Wide ones have a line per cell, because phones would wrap their columns. */
export function toTableText(table: Tokens.Table, toText: (tokens: readonly Token[]) => string): string {
  const header = table.header.map(({ tokens }) => toText(tokens));
  const rows = table.rows.map((row) => row.map(({ tokens }) => toText(tokens)));
  const widths = header.map((name, column) =>
    rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), name.length),
  );
  const width = widths.reduce((sum, each) => sum + each + SEPARATOR.length, -SEPARATOR.length);
  if (width > MAX_WIDTH) return rows.map((row) => toRecord(header, row)).join('\n\n') || header.join('\n');
  const toLine = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        (table.align[column] === 'right' ? cell.padStart : cell.padEnd).call(cell, widths[column] ?? 0),
      )
      .join(SEPARATOR)
      .trimEnd();
  const line = widths.map((each) => '─'.repeat(each)).join('─┼─');
  return [toLine(header), line, ...rows.map(toLine)].join('\n');
}

const SEPARATOR = ' │ ';
/** A phone shows about as many characters in a line. */
const MAX_WIDTH = 46;

const toRecord = (header: readonly string[], row: readonly string[]): string =>
  row.map((cell, column) => `${header[column] ?? ''}: ${cell}`).join('\n');
