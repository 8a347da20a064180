import { type Delta, mergeDeltas, textOf, withText } from '../merge-deltas.ts';
import { splitBodies } from './block.ts';
import { readLengths, writeLength } from './lengths.ts';

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

const DELTA = /^\{"type":"(?:content|reasoning|tool_output_chunk)"/;

export const isPacked = (body: string): boolean => body.startsWith(BEGINNING);

/** A row holds no more events. */
export const MAX_ROW_EVENTS = 512;

/** Collects adjacent deltas for one row. */
export class Packer {
  readonly #texts: PackedText[] = [];
  #first = '';
  #count = 0;

  /** How many there are. */
  get count(): number {
    return this.#count;
  }

  /** False when the row is full, for an event that is not a delta, and for one that would not be read back byte for byte. */
  add(json: string): boolean {
    if (this.#count === MAX_ROW_EVENTS || !DELTA.test(json)) return false;
    const event: Delta = JSON.parse(json);
    const newest = this.#texts.at(-1);
    const merged = newest && mergeDeltas(newest[1], event, Number.POSITIVE_INFINITY);
    const text = textOf(event);
    if (JSON.stringify(withText(merged ?? event, text)) !== json) return false;
    const length = writeLength(text.length);
    if (newest && merged) this.#texts[this.#texts.length - 1] = [newest[0] + length, merged];
    else this.#texts.push([length, event]);
    if (this.#count++ === 0) this.#first = json;
    return true;
  }

  /** The body of the row: the event itself if there is only one. */
  body(): string {
    return this.#count === 1 ? this.#first : JSON.stringify({ packed: this.#texts } satisfies PackedBody);
  }
}

/** The events of an intact row, as JSON; a row that is not packed has one. */
export const unpack = (body: string): string[] => splitBodies(body).flatMap(unpackOne);

/** How many events such a row has. */
export const countEvents = (body: string): number =>
  splitBodies(body).reduce((sum, one) => sum + (isPacked(one) ? countPacked(one) : 1), 0);

function countPacked(body: string): number {
  const { packed }: PackedBody = JSON.parse(body);
  return packed.reduce((sum, [lengths]) => sum + readLengths(lengths).length, 0);
}

function unpackOne(body: string): string[] {
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
