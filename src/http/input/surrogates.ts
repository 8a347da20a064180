import { GatewayError } from '../../../protocol/errors.ts';

/** Refuses half of a surrogate pair, because databases and other languages would store another text. */
export const halfSurrogate = (place: string) =>
  new GatewayError(
    'INVALID_REQUEST',
    `The ${place} holds half of a surrogate pair, which is not a character. Send valid Unicode text.`,
  );

/**
 * Whether a name or text in the value holds half of a surrogate pair. Without recursion: a body may be nested 500,000
 * levels deep.
 */
export function holdsHalfSurrogate(body: object): boolean {
  const open: object[] = [body];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const [name, value] of Object.entries(next)) {
      if (!name.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) return true;
      if (typeof value === 'object' && value !== null) open.push(value);
    }
  }
  return false;
}

/** Whether bytes hold a surrogate encoded like UTF-8, which UTF-8 forbids: ED A0 80 to ED BF BF. */
export function holdsEncodedSurrogate(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(0xed); at !== -1; at = bytes.indexOf(0xed, at + 1)) {
    const [second = 0, third = 0] = bytes.subarray(at + 1, at + 3);
    if (second >= 0xa0 && second <= 0xbf && third >= 0x80 && third <= 0xbf) return true;
  }
  return false;
}
