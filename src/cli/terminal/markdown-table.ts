import type { Tokens } from 'marked';
import { toInline } from './markdown-inline.ts';
import type { Sheet } from './sheet.ts';
import { widthOf } from './width.ts';
import { wrapWords } from './wrap.ts';

const GAP = 3;

/** A table with rules instead of borders. If it is too wide, its widest columns are wrapped. */
export function toTableLines({ header, rows, align }: Tokens.Table, { paint, columns }: Sheet): string[] {
  const head = header.map(({ tokens }) => paint('bold', toInline(tokens, paint)));
  const body = rows.map((row) => row.map(({ tokens }) => toInline(tokens, paint)));
  const natural = head.map((cell, at) =>
    Math.max(1, ...[cell, ...body.map((row) => row[at] ?? '')].map((text) => widthOf(text))),
  );
  const widths = fit(natural, columns - GAP * (natural.length - 1));
  const toLines = (row: readonly string[]) => {
    const cells = row.map((cell, at) => wrapWords(cell, widths[at] ?? 1));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((cell, at) => pad(cell[line] ?? '', { width: widths[at] ?? 1, align: align[at] ?? null }))
        .join(paint('dim', ' │ '))
        .trimEnd(),
    );
  };
  const rule = paint('dim', widths.map((width) => '─'.repeat(width)).join('─┼─'));
  return [...toLines(head), rule, ...body.flatMap(toLines)];
}

const NARROWEST = 8;

/** Narrows the widest columns until all fit, or all have the minimum width. */
function fit(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    widths[widths.indexOf(widest)] = widest - 1;
    over -= 1;
  }
  return widths;
}

function pad(cell: string, { width, align }: { width: number; align: Tokens.Table['align'][number] }): string {
  const room = Math.max(0, width - widthOf(cell));
  const before = align === 'right' ? room : align === 'center' ? Math.floor(room / 2) : 0;
  return `${' '.repeat(before)}${cell}${' '.repeat(room - before)}`;
}
