/** Rows of cells as lines, each column as wide as its widest cell. */
export function toTextTable(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>((wide, row) => row.map((cell, n) => Math.max(wide[n] ?? 0, cell.length)), []);
  const toLine = (row: readonly string[]) => row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join('  ');
  return rows.map((row) => `${toLine(row).trimEnd()}\n`).join('');
}
