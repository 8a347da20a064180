import type { Message } from '../../agent/message.ts';
import type { CutTable } from '../store/schema/schema.ts';

/** A range of stored messages that no longer counts, or only in part: `afterSeq` < seq ≤ `toSeq`. */
export interface Cut {
  /** From 1 without gaps. */
  n: number;
  kind: CutTable['kind'];
  afterSeq: number;
  toSeq: number;
  /** The message count when it was made. */
  atSeq: number;
  /** The message in its place; only for a compaction. */
  summary?: Message | undefined;
  createdMs: number;
}

/** A part of the conversation as it counts now, in its order. */
export type Part =
  /** Stored messages with `after` < seq ≤ `upTo`, all of them. */
  | { kind: 'stored'; after: number; upTo: number }
  /** The message in place of a compacted range. It has the number of the last message of that range. */
  | { kind: 'summary'; seq: number; createdMs: number; message: Message };

/** A range of stored messages. */
export interface Range {
  after: number;
  upTo: number;
}

/** `original`: with the messages behind compactions instead of their summaries. */
export type View = 'current' | 'original';

/**
 * The conversation as it counts now, from the stored messages of a range and the cuts in the order of `n`. A rewind
 * drops everything after its beginning, and voids the compactions and prunings made after it, so that their originals count again.
 */
export function toParts(cuts: readonly Cut[], { after, upTo }: Range, view: View = 'current'): Part[] {
  const inForce = inForceOf(cuts).filter((cut) => isCompaction(cut) || !isForModels(cut));
  const used = view === 'original' ? inForce.filter(({ kind }) => kind !== 'compaction') : inForce;
  const summaries = used.filter((cut) => !isCovered(cut, used)).flatMap(toSummary);
  const parts: Part[] = [
    ...withoutCuts(used, { after, upTo }),
    ...summaries.filter(({ seq }) => seq > after && seq <= upTo),
  ];
  return parts.sort((a, b) => placeOf(a) - placeOf(b));
}

/** What models read differently because of cuts in front of it, or around it. */
export interface Rewritten {
  /** Long outputs up to this message are replaced by a line. */
  prunedTo: number;
  /** Attachments up to this message are only named. */
  unseenTo: number;
  /** Images up to this message are only named. */
  imagesUnseenTo: number;
  /** Signed reasoning up to this message is no longer accepted. */
  unboundTo: number;
}

export function toRewritten(cuts: readonly Cut[]): Rewritten {
  const inForce = inForceOf(cuts);
  const most = (numbers: number[]) => Math.max(0, ...numbers);
  const lastOf = (wanted: Cut['kind']) => most(inForce.filter(({ kind }) => kind === wanted).map(({ toSeq }) => toSeq));
  return {
    prunedTo: lastOf('prune'),
    unseenTo: lastOf('attachments'),
    imagesUnseenTo: lastOf('images'),
    unboundTo: lastOf('unbind'),
  };
}

/** How many messages the parts have. */
export const countOf = (parts: readonly Part[]): number =>
  parts.reduce((count, part) => count + (part.kind === 'stored' ? part.upTo - part.after : 1), 0);

/** The same messages in parts of at most so many. */
export function* splitUp(parts: readonly Part[], most: number): Generator<Part> {
  for (const part of parts) {
    if (part.kind === 'summary') yield part;
    else
      for (let { after } = part; after < part.upTo; after += most)
        yield { kind: 'stored', after, upTo: Math.min(after + most, part.upTo) };
  }
}

const isCompaction = ({ kind }: Cut): boolean => kind === 'compaction';

/** People read the originals. */
export const isForModels = ({ kind }: Pick<Cut, 'kind'>): boolean => kind !== 'rewind' && kind !== 'remove';

const inForceOf = (cuts: readonly Cut[]): Cut[] => cuts.filter((cut) => !isVoid(cut, cuts));

const isVoid = (cut: Cut, cuts: readonly Cut[]): boolean =>
  isForModels(cut) && cuts.some(({ kind, n, afterSeq }) => kind === 'rewind' && n > cut.n && afterSeq < cut.atSeq);

/** A later compaction includes its summary. */
const isCovered = (cut: Cut, cuts: readonly Cut[]): boolean =>
  cuts.some(
    (later) => isCompaction(later) && later.n > cut.n && cut.toSeq > later.afterSeq && cut.toSeq <= later.toSeq,
  );

function toSummary({ summary, toSeq, createdMs }: Cut): Extract<Part, { kind: 'summary' }>[] {
  return summary ? [{ kind: 'summary', seq: toSeq, createdMs, message: summary }] : [];
}

function withoutCuts(cuts: readonly Cut[], { after, upTo }: Range): Part[] {
  const parts: Part[] = [];
  let end = after;
  for (const { afterSeq, toSeq } of [...cuts].sort((a, b) => a.afterSeq - b.afterSeq)) {
    const next = Math.min(afterSeq, upTo);
    if (next > end) parts.push({ kind: 'stored', after: end, upTo: next });
    end = Math.max(end, toSeq);
  }
  if (upTo > end) parts.push({ kind: 'stored', after: end, upTo });
  return parts;
}

/** Where a part begins. A summary comes before the messages after its range. */
const placeOf = (part: Part): number => (part.kind === 'stored' ? part.after + 0.5 : part.seq);
