import type { DiffRow, Range } from './diff-rows.ts';
import type { Piece, Pieces } from './highlight.ts';

/** A piece of a line in one colour; `marked` if it differs from the other side. */
export interface MarkedPiece extends Piece {
  marked: boolean;
}

/** Cuts the coloured pieces of a line at its marks. */
export function markPieces(pieces: Pieces, marks: readonly Range[]): readonly MarkedPiece[] {
  const edges = marks.flat();
  let at = 0;
  return pieces.flatMap(({ text, className }) => {
    const from = at;
    at += text.length;
    const cuts = [from, ...edges.filter((edge) => edge > from && edge < at), at];
    return cuts.slice(1).map((end, index) => {
      const start = cuts[index] ?? from;
      const marked = marks.some(([begin, close]) => begin <= start && end <= close);
      return { text: text.slice(start - from, end - from), className, marked };
    });
  });
}

/** The rows for one column: of each run of changes, the removed lines and then the added ones. */
export function toOneColumn(rows: readonly DiffRow[]): readonly DiffRow[] {
  const column: DiffRow[] = [];
  let coming: DiffRow[] = [];
  const flush = () => {
    for (const row of coming) column.push(row); // too many for the arguments of one call
    coming = [];
  };
  for (const row of rows) {
    if (row.kind === 'changed') {
      if (row.before) column.push({ ...row, after: undefined });
      if (row.after) coming.push({ ...row, before: undefined });
    } else {
      flush();
      column.push(row);
    }
  }
  flush();
  return column;
}

/** Replaces the opened folds with their rows. */
export const unfold = (rows: readonly DiffRow[], opened: ReadonlySet<DiffRow>): readonly DiffRow[] =>
  rows.flatMap((row) => (row.kind === 'folded' && opened.has(row) ? row.rows : [row]));
