import type { ArrivingBytes } from '../../../egress/streamed-post.ts';

/** What arrived of an answer. */
export interface ReadBytes {
  bytes: Uint8Array<ArrayBuffer>;
  isCut: boolean;
  /** Why it broke off. */
  problem?: string;
}

/** What is compressed counts as what it becomes, so that little cannot become too much. */
export async function readBytes(
  body: ArrivingBytes,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<ReadBytes> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let problem: string | undefined;
  try {
    for (let read = await body.read(); read && size <= maxBytes; read = await body.read()) {
      pieces.push(...read);
      for (const piece of read) size += piece.length;
    }
  } catch (error) {
    signal.throwIfAborted();
    problem = error instanceof Error && 'code' in error ? String(error.code) : 'its connection was closed';
  } finally {
    body.cancel();
  }
  const bytes = new Uint8Array(Math.min(size, maxBytes));
  let at = 0;
  for (const piece of pieces) {
    const part = piece.subarray(0, bytes.length - at);
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, isCut: size > maxBytes, ...(problem !== undefined && { problem }) };
}
