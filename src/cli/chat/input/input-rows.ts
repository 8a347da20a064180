import { widthOf } from '../../terminal/width.ts';

interface InputText {
  /** Stands before the first row; the other rows are indented by its width. */
  prompt: string;
  text: string;
  /** Code units before the cursor. */
  cursor: number;
}

interface Size {
  columns: number;
  maxRows: number;
}

export interface InputRows {
  rows: string[];
  cursor: { row: number; column: number };
}

let segmenter: Intl.Segmenter | undefined; // takes 14 ms to make, and the first prompt is empty

/** The text being typed as rows of the terminal, wrapped where the terminal would wrap it, with the cursor's place. */
export function toInputRows({ prompt, ...typed }: InputText, { columns, maxRows }: Size): InputRows {
  const { text, cursor, isBeginning } = toNeighbourhood(typed, columns * (maxRows + 1));
  const indent = widthOf(prompt);
  const rows = [isBeginning ? prompt : ' '.repeat(indent)];
  let column = indent;
  let place: InputRows['cursor'] | undefined;
  const nextRow = () => {
    rows.push(' '.repeat(indent));
    column = indent;
  };
  for (const { segment, index } of segmentsOf(text)) {
    const width = widthOf(segment);
    if (column + width > columns - 1) nextRow(); // the last column stays free for the cursor
    if (index >= cursor) place ??= { row: rows.length - 1, column };
    if (segment === '\n') nextRow();
    else rows.push(`${rows.pop() ?? ''}${segment}`);
    column += width;
  }
  return cropAround(rows, { cursor: place ?? { row: rows.length - 1, column }, maxRows });
}

function segmentsOf(text: string): Iterable<Intl.SegmentData> {
  if (text === '') return [];
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

/** What is on the screen of a very long text, such as one that was pasted; each key draws only this. */
function toNeighbourhood(
  { text, cursor }: Pick<InputText, 'text' | 'cursor'>,
  span: number,
): Pick<InputText, 'text' | 'cursor'> & { isBeginning: boolean } {
  const far = Math.floor(cursor / span) - 1; // in steps, so that the rows do not move with every key
  if (far <= 0) return { text: text.slice(0, cursor + span), cursor, isBeginning: true };
  const from = text.lastIndexOf('\n', far * span) + 1;
  const start = cursor - from > 3 * span ? far * span : from; // a line may be very long
  return { text: text.slice(start, cursor + span), cursor: cursor - start, isBeginning: start === 0 };
}

/** The part of a long text around the cursor. */
function cropAround(rows: string[], { cursor, maxRows }: { cursor: InputRows['cursor']; maxRows: number }): InputRows {
  const first = Math.max(0, Math.min(cursor.row - Math.floor(maxRows / 2), rows.length - maxRows));
  return { rows: rows.slice(first, first + maxRows), cursor: { row: cursor.row - first, column: cursor.column } };
}
