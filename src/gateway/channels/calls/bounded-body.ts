/** The bytes of a response are more than allowed. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';

  constructor() {
    super('it is too large');
  }
}

/** The announced size of the body; undefined if the server does not say. */
export function sizeOf({ headers }: Response): number | undefined {
  const length = headers.get('content-length');
  return length !== null && /^\d+$/.test(length) && !headers.has('content-encoding') ? Number(length) : undefined;
}

/**
 * The body in pieces; throws BodyTooLarge as soon as it is over the limit: before the first byte if the server announced
 * its size. A reader that stops early closes the connection. `onPiece` is called whenever something arrives.
 */
export async function* boundedBody(
  response: Response,
  { maxBytes, onPiece }: { maxBytes: number; onPiece(): void },
): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    let left = maxBytes;
    if ((sizeOf(response) ?? 0) > maxBytes) throw new BodyTooLarge();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      onPiece();
      left -= read.value.byteLength;
      if (left < 0) throw new BodyTooLarge();
      yield read.value;
    }
  } finally {
    await reader.cancel().catch(() => undefined); // it has failed or ended already
  }
}
