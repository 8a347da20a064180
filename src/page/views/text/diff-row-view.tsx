import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { markPieces } from '../../state/text/diff-pieces.ts';
import type { DiffLine, DiffRow } from '../../state/text/diff-rows.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import type { Pieces } from '../../state/text/highlight.ts';

interface DiffRowViewProps {
  row: DiffRow;
  isSplit: boolean;
  /** The highlighted line; undefined until it is ready. */
  before: Pieces | undefined;
  after: Pieces | undefined;
  onOpen(row: DiffRow): void;
}

/** One row, redrawn only if it changes or its highlighting is ready. */
export const DiffRowView = (props: DiffRowViewProps) =>
  useMemo(() => <RowOfKind {...props} />, [props.row, props.isSplit, props.before, props.after]);

function RowOfKind({ row, isSplit, before, after, onOpen }: DiffRowViewProps) {
  switch (row.kind) {
    case 'gap':
      return <p class="diff-gap">{countLines(row.lines)}</p>;
    case 'folded':
      return (
        <button type="button" class="diff-gap quiet" onClick={() => onOpen(row)}>
          {`Show ${countLines(row.rows.length)}`}
        </button>
      );
    case 'same':
    case 'changed':
      return isSplit ? (
        <TwoColumnRow row={row} before={before} after={after} />
      ) : (
        <OneColumnRow row={row} pieces={row.after ? after : before} />
      );
  }
}

const countLines = (count: number) => `${count.toLocaleString()} unchanged ${count === 1 ? 'line' : 'lines'}`;

type LineRow = Extract<DiffRow, { before: unknown }>;
type Colours = Pick<DiffRowViewProps, 'before' | 'after'>;

const TwoColumnRow = ({ row, before, after }: { row: LineRow } & Colours) => (
  <div class="diff-row">
    <Side kind={row.kind === 'same' ? 'same' : 'removed'} line={row.before} pieces={before} />
    <Side kind={row.kind === 'same' ? 'same' : 'added'} line={row.after} pieces={after} />
  </div>
);

type Kind = 'same' | 'removed' | 'added';

function Side({ kind, line, pieces }: { kind: Kind; line: DiffLine | undefined; pieces: Pieces | undefined }) {
  if (!line) return <div class="diff-side none" />;
  return (
    <div class={`diff-side ${kind}`}>
      <span class="diff-number" data-number={line.number} />
      <LineText kind={kind} line={line} pieces={pieces} />
    </div>
  );
}

function OneColumnRow({ row, pieces }: { row: LineRow; pieces: Pieces | undefined }) {
  const { before, after } = row;
  const line = after ?? before;
  if (!line) return null;
  const kind = row.kind === 'same' ? 'same' : after ? 'added' : 'removed';
  return (
    <div class={`diff-row diff-side ${kind}`}>
      <span class="diff-number" data-number={before?.number} />
      <span class="diff-number" data-number={after?.number} />
      <LineText kind={kind} line={line} pieces={pieces} />
    </div>
  );
}

const ELEMENTS = { same: 'span', removed: 'del', added: 'ins' } as const;
/** Characters that a browser lays out without a noticeable delay. */
const STEP_CHARS = 4_000;

/** The text of one line. A very long line is shown piece by piece. */
function LineText({ kind, line, pieces }: { kind: Kind; line: DiffLine; pieces: Pieces | undefined }) {
  const limit = useSignal(STEP_CHARS);
  const Text = ELEMENTS[kind];
  const left = line.text.length - limit.value;
  const text = left > 0 ? line.text.slice(0, limit.value) : line.text;
  const isWhole = left <= 0 && pieces !== undefined;
  return (
    <Text class="diff-text">
      {markPieces(isWhole ? pieces : [{ text, className: undefined }], line.marks).map((piece, index) => (
        <PieceView key={index} {...piece} />
      ))}
      {'\n'}
      {left > 0 && (
        <button
          type="button"
          onClick={() => {
            limit.value *= 4;
          }}
        >
          {`Show more of this line (${left.toLocaleString()} characters)`}
        </button>
      )}
    </Text>
  );
}

function PieceView({ text, className, marked }: { text: string; className: string | undefined; marked: boolean }) {
  if (marked) return <mark class={className}>{showHidden(text)}</mark>;
  return className === undefined ? showHidden(text) : <span class={className}>{showHidden(text)}</span>;
}
