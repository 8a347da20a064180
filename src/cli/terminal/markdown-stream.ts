import { lexBlocks, type Piece, toPieces } from './markdown.ts';
import { toSafeText } from './safe-text.ts';
import type { Sheet } from './sheet.ts';

/** A text that grows: what is finished is handed out once, what may still change is drawn anew. */
export interface GrowingText {
  push(text: string): void;
  /** Lines since the last call that no later text changes. */
  takeFinished(): string[];
  /** The rest as it looks now. */
  openLines(): string[];
  /** The rest, for good. */
  end(): string[];
}

/** Markdown. Only from the beginning of the last block on is text read again. */
export function createMarkdownStream(sheet: () => Sheet): GrowingText {
  let source = '';
  /** Pieces of the first block of `source` that were handed out. */
  let taken = 0;
  let isFirst = true;

  const toLines = ({ lines, apart }: Piece): string[] => {
    const spaced = apart && !isFirst ? ['', ...lines] : lines;
    isFirst = false;
    return spaced;
  };
  const openPieces = () => {
    const blocks = lexBlocks(toSafeText(source));
    return blocks.map(({ token, at }, index) => ({
      at,
      pieces: toPieces(token, sheet()).slice(index === 0 ? taken : 0),
    }));
  };
  const take = (isEnd: boolean): string[] => {
    const blocks = openPieces();
    const last = blocks.at(-1);
    if (last === undefined) return [];
    const whole = (isEnd ? blocks : blocks.slice(0, -1)).flatMap(({ pieces }) => pieces);
    const begun = isEnd ? [] : last.pieces.slice(0, -1);
    taken = (blocks.length === 1 ? taken : 0) + begun.length;
    source = isEnd ? '' : toSafeText(source).slice(last.at);
    return [...whole, ...begun].flatMap(toLines);
  };
  return {
    push(text) {
      source += text;
    },
    takeFinished: () => take(false),
    openLines() {
      const pieces = openPieces().flatMap((block) => block.pieces);
      return pieces.flatMap(({ lines, apart }, index) => (apart && !(isFirst && index === 0) ? ['', ...lines] : lines));
    },
    end: () => take(true),
  };
}

/** Text as it comes, line by line. */
export function createPlainStream(): GrowingText {
  let open = '';
  const take = (isEnd: boolean) => {
    const lines = open.split('\n');
    open = isEnd ? '' : (lines.pop() ?? '');
    if (isEnd && lines.at(-1) === '') lines.pop();
    return lines.map(toSafeText);
  };
  return {
    push(text) {
      open += text;
    },
    takeFinished: () => take(false),
    openLines: () => (open === '' ? [] : [toSafeText(open)]),
    end: () => take(true),
  };
}
