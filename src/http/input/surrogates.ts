import { GatewayError } from '../../../protocol/errors.ts';

/** Databases and other languages would store half of a pair as another text, so a request that holds one is refused. */
export const halfSurrogate = (place: string) =>
  new GatewayError(
    'INVALID_REQUEST',
    `The ${place} holds half of a surrogate pair, which is not a character. Send valid Unicode text.`,
  );

/** Whether a name or text in the value holds half of a surrogate pair. Without recursion: a body may be nested half a million deep. */
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

/** Whether bytes hold a surrogate as UTF-8 would encode it if it were allowed to: ED A0 80 to ED BF BF. */
export function holdsEncodedSurrogate(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(0xed); at !== -1; at = bytes.indexOf(0xed, at + 1)) {
    const [second = 0, third = 0] = bytes.subarray(at + 1, at + 3);
    if (second >= 0xa0 && second <= 0xbf && third >= 0x80 && third <= 0xbf) return true;
  }
  return false;
}
