/** Servers of the bus refuse messages of more than 1 MB. */
const PIECE_BYTES = 512 * 1024;
/** The longest message: a piece with its seal and its session. */
export const LONGEST_MESSAGE_BYTES = PIECE_BYTES + 200;
/** A text that is longer is refused by its reader. */
const MOST_BYTES = 256 * 1024 * 1024;

const LAST = 0;
const MORE = 1;

/** Divides a text, so that each piece fits into a message. */
export function* toPieces(text: Uint8Array): Generator<Buffer> {
  for (let from = 0; from === 0 || from < text.length; from += PIECE_BYTES) {
    const piece = text.subarray(from, from + PIECE_BYTES);
    yield Buffer.concat([Buffer.of(from + PIECE_BYTES < text.length ? MORE : LAST), piece]);
  }
}

/** Joins pieces; returns the text after its last one. */
export function createJoin(): (piece: Buffer) => Buffer | undefined {
  let parts: Buffer[] = [];
  let bytes = 0;
  return (piece) => {
    parts.push(piece.subarray(1));
    bytes += piece.length - 1;
    if (bytes > MOST_BYTES) throw new Error('a text of another daemon is too long');
    if (piece[0] === MORE) return undefined;
    const text = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    [parts, bytes] = [[], 0];
    return text;
  };
}
