import { lexBlocks, type Piece, toPieces } from './markdown.ts';
import { toSafeText } from './safe-text.ts';
import type { Sheet } from './sheet.ts';

/** A growing text: finished lines are handed out once; lines that may still change are redrawn. */
export interface GrowingText {
  push(text: string): void;
  /** Lines finished since the last call; later text does not change them. */
  takeFinished(): string[];
  /** The rest as it looks now. */
  openLines(): string[];
  /** Ends the text and hands out the rest. */
  end(): string[];
}

/** Markdown. Only the last block is parsed again when text arrives. */
export function createMarkdownStream(sheet: () => Sheet): GrowingText {
  let source = '';
  /** How many pieces of the first block of `source` were handed out. */
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

/** Plain text, line by line. */
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
