import { timingSafeEqual } from 'node:crypto';

/** Compares in constant time; the length is not secret. */
export function tokenMatcher(token: string): (candidate: string) => boolean {
  const expected = Buffer.from(token);
  return (candidate) => {
    if (candidate.length !== token.length) return false;
    const bytes = Buffer.from(candidate);
    return bytes.length === expected.length && timingSafeEqual(bytes, expected);
  };
}
