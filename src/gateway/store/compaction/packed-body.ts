import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { type Delta, isDelta, mergeDeltas, textOf, withText } from '../merge-deltas.ts';
import { readLengths, writeLengths } from './lengths.ts';

/**
 * Adjacent events of one row, as stored in `body_json`. The row has the offset of the last one; those before it count
 * back from there. Its checksum covers all of them.
 */
interface PackedBody {
  packed: readonly PackedText[];
}

/** The deltas of one text: the lengths of their texts, and a delta with the whole text. */
type PackedText = [lengths: string, whole: Delta];

/** No event begins like this, because its type is always first. */
const BEGINNING = '{"packed":';

export const isPacked = (body: string): boolean => body.startsWith(BEGINNING);

/** The body of one row for adjacent deltas; undefined if they would not be read exactly as they are now. */
export function pack(events: readonly string[]): string | undefined {
  const texts: { pieces: number[]; whole: Delta }[] = [];
  for (const json of events) {
    const event: StreamEvent = JSON.parse(json);
    if (!isDelta(event)) return undefined;
    const newest = texts.at(-1);
    const whole = newest && mergeDeltas(newest.whole, event, Number.POSITIVE_INFINITY);
    if (newest && whole) {
      newest.pieces.push(textOf(event).length);
      newest.whole = whole;
    } else texts.push({ pieces: [textOf(event).length], whole: event });
  }
  const body: PackedBody = { packed: texts.map(({ pieces, whole }) => [writeLengths(pieces), whole]) };
  const packed = JSON.stringify(body);
  return isSame(unpack(packed), events) ? packed : undefined;
}

/** The events of an intact row, as JSON; a row that is not packed has one. */
export function unpack(body: string): string[] {
  if (!isPacked(body)) return [body];
  const { packed }: PackedBody = JSON.parse(body);
  return packed.flatMap(([lengths, whole]) => {
    const text = textOf(whole);
    let at = 0;
    return readLengths(lengths).map((length) => {
      at += length;
      return JSON.stringify(withText(whole, text.slice(at - length, at)));
    });
  });
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((json, index) => json === other[index]);
