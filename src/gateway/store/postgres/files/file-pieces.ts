/** The length of a piece: few statements for a large file, and little memory for many at once. */
const PIECE_BYTES = 256 * 1024;

/** The same bytes in pieces of `PIECE_BYTES`, the last one shorter; none for no bytes. A piece is not used again. */
export async function* inPieces(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length; ) {
      const part = chunk.subarray(from, from + PIECE_BYTES - length);
      parts.push(part);
      length += part.length;
      from += part.length;
      if (length < PIECE_BYTES) continue;
      yield Buffer.concat(parts, length);
      parts = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(parts, length);
}
