import { isMixed } from './secret-values.ts';

/** Lines from this length on may have been broken because of their length. */
const LONG = 60;
/** A token is not broken more often. */
const MOST_LINES = 80;

interface Broken {
  start: number;
  /** Where the first line of it ends. */
  end: number;
}

/** Whether the line that ends with this is so long that it may go on in the next one. */
export const isLongLine = (text: string, { start, end }: Broken): boolean =>
  end - (text.lastIndexOf('\n', start) + 1) >= LONG;

/**
 * Where a text that began at the end of a line ends if programs such as `fold` broke it: the following lines have nothing else,
 * and all but the last are as long as the first. `line` matches a line that may belong to it. `isOpen`: the text ends where it
 * could go on.
 */
export function brokenEnd(text: string, { start, end }: Broken, line: RegExp): { end: number; isOpen: boolean } {
  const width = end - (text.lastIndexOf('\n', start) + 1);
  let at = end;
  for (let count = 0; count < MOST_LINES; count += 1) {
    const next = lineAfter(text, at);
    if (next?.isOpen && next.text === '') return { end: at, isOpen: true };
    if (next === undefined || !belongs(next, width, line)) break;
    at = next.end;
    if (next.isOpen || next.text.length < width) break;
  }
  return { end: at, isOpen: at === text.length };
}

interface Line {
  text: string;
  end: number;
  /** It may go on. */
  isOpen: boolean;
}

/** A shorter line is the last one of a token, and could be a word if it has no digit. */
const belongs = ({ text, isOpen }: Line, width: number, line: RegExp): boolean =>
  text !== '' && text.length <= width && line.test(text) && (isOpen || text.length === width || isMixed(text));

/** The line after a line that ends here; undefined if none does. */
function lineAfter(text: string, at: number): Line | undefined {
  const start = text.startsWith('\r\n', at) ? at + 2 : at + 1;
  if (text[start - 1] !== '\n') return undefined;
  const newline = text.indexOf('\n', start);
  if (newline < 0) return { text: text.slice(start), end: text.length, isOpen: true };
  const end = text[newline - 1] === '\r' && newline > start ? newline - 1 : newline;
  return { text: text.slice(start, end), end, isOpen: false };
}
