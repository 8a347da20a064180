import { boundedBody } from './bounded-body.ts';

/** More than any answer of a chat service has. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** The text of an answer. Throws if it breaks off. */
export async function readAnswer(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of boundedBody(response, { maxBytes: MAX_ANSWER_BYTES, onPiece: () => undefined }))
    pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** The JSON of an answer; undefined if it is none. */
export function toAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller reports an unreadable answer
  }
}
