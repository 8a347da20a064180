/** What may stand between the first line and the body, perhaps quoted, or written with `\n`. */
const SPACE = '(?:\\s|\\\\[nr]|[>|" ])';
/** Lines about the encryption and the program. */
const HEADERS = `(?:(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset): [^\\n\\\\]{0,200}${SPACE}{1,12}){0,5}`;

/** The beginning of a private key, with enough of the key that it is no mention of one. */
const BEGIN = new RegExp(
  `-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----${SPACE}{1,64}${HEADERS}[A-Za-z0-9+/=]{16}`,
  'g',
);
/** The part after the first line may become a key. */
const REST = `(?:${SPACE}|\\\\){0,64}${HEADERS}(?:[A-Z][a-zA-Z-]{2,11}(?:: ?[^\\n\\\\]{0,200}(?:${SPACE}|\\\\){0,12})?|[A-Za-z0-9+/=]{0,15})`;
/** May become one. */
const BEGINNING = new RegExp(
  `-(?:-(?:-(?:-(?:-(?:B[A-Z0-9 ]{0,60}-{0,5}(?:(?<=KEY(?: BLOCK)?-----)${REST})?)?)?)?)?)?$`,
);
const LONGEST_BEGINNING = 512;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const BEFORE_LINE = /^[\s"'>+|]+/;
const LINE = /^(?:[A-Za-z0-9+/=]|\\[nr])*[\s"',]*$|^(?:Proc-Type|DEK-Info|Comment|Version): /;
const LONGEST_LINE = 4_096;

/** The first private key in a text, with the beginning of its body. */
export function findPrivateKey(text: string, from: number): { start: number; end: number } | undefined {
  BEGIN.lastIndex = from;
  const match = BEGIN.exec(text);
  return match ? { start: match.index, end: match.index + match[0].length } : undefined;
}

export function privateKeyBeginningAt(text: string, from: number): number {
  const first = Math.max(from, text.length - LONGEST_BEGINNING);
  const match = BEGINNING.exec(text.slice(first));
  return match ? first + match.index : text.length;
}

/** How far a text continues a private key; `isOver`: what follows does not belong to it. */
export function restOfPrivateKey(text: string, from: number, isEnd: boolean): { end: number; isOver: boolean } {
  for (let at = from; ; ) {
    const newline = text.indexOf('\n', at);
    const line = text.slice(at, newline < 0 ? text.length : newline);
    const end = END.exec(line);
    if (end && isOfKey(line.slice(0, end.index))) return { end: at + end.index + end[0].length, isOver: true };
    if (newline < 0) return restOfLine(line, at, isEnd);
    if (!isOfKey(line)) return { end: at, isOver: true };
    at = newline + 1;
  }
}

/** Whether it may be a line of a key, perhaps indented, quoted, or written with `\n`. */
const isOfKey = (line: string): boolean => LINE.test(line.replace(BEFORE_LINE, ''));

/** The last line of a text may go on. */
function restOfLine(line: string, at: number, isEnd: boolean): { end: number; isOver: boolean } {
  const isWhole = isEnd || line.length > LONGEST_LINE;
  if (isWhole && !isOfKey(line)) return { end: at, isOver: true };
  return { end: isWhole ? at + line.length : at, isOver: false };
}
