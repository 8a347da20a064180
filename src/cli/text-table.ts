/** A text that is one line whatever is in it: a line end must not look like the next line of Headgate. */
export const toOneLine = (text: string): string => text.replaceAll('\n', '\\n');

/** Rows of cells as lines, each column as wide as its widest cell. */
export function toTextTable(texts: readonly (readonly string[])[]): string {
  const rows = texts.map((row) => row.map(toOneLine));
  const widths = rows.reduce<number[]>((wide, row) => row.map((cell, n) => Math.max(wide[n] ?? 0, cell.length)), []);
  const toLine = (row: readonly string[]) => row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join('  ');
  return rows.map((row) => `${toLine(row).trimEnd()}\n`).join('');
}
