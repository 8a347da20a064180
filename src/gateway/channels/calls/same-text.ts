import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two texts are the same. Takes as long for every text of the same length. */
export const isSameText = (given: string, expected: string): boolean =>
  timingSafeEqual(digestOf(given), digestOf(expected));

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
