import type { Finding } from '../evidence.ts';
import { ACTIVE, type ClusterEvidence, movingFrom, type Write } from './cluster-evidence.ts';
import { placeOf } from './place-of.ts';

/** The lease of the active daemon. */
export const DAEMON_LEASE = 'daemon';

const isWorkers = ({ lease }: Write): boolean => lease !== DAEMON_LEASE;

/** A worker writes its own workstreams, and the active daemon the others, also those that it takes over. */
export function* ownersWriteRows({ writes }: ClusterEvidence): Generator<Finding> {
  for (const write of writes) {
    const { machine, owner } = write;
    if (owner === undefined) continue;
    const isOwn = isWorkers(write) ? owner === machine : owner === ACTIVE || owner.startsWith(movingFrom(''));
    if (!isOwn) yield { what: `${machine} wrote, but the workstream was with ${owner}`, where: placeOf(write) };
  }
}

/** It moves when its owner gives it away, which is the last that this owner writes, or when the active daemon takes it over. */
export function* oneOwner({ writes }: ClusterEvidence): Generator<Finding> {
  for (const [wsId, own] of byWorkstream(writes)) {
    for (const [before, after] of pairs(ownersOf(own))) {
      const what = `was with ${before.of}, then with ${after.of}`;
      const where = `${wsId}, ${spanOf(after)}`;
      if (before.last > after.first) yield { what: `${what}, and both wrote`, where };
      else if (!isHandedOver(before, after)) yield { what: `${what}, and nobody gave it away`, where };
    }
  }
}

const isTakenOver = ({ of }: Period): boolean => of.startsWith(movingFrom(''));

/** Anybody's workstream can be marked as taken over, and then it is the active daemon's. */
function isHandedOver(before: Ownership, after: Ownership): boolean {
  if (isTakenOver(after)) return !isTakenOver(before);
  return isTakenOver(before) ? after.of === ACTIVE : isGiven(before);
}

const isGiven = ({ writes, last }: Ownership): boolean =>
  writes.some((write) => write.table === 'workstreams' && write.last === last);

/** How often it was given to another machine in order. */
export const movesIn = (writes: readonly Write[]): number =>
  [...byWorkstream(writes).values()]
    .flatMap((own) => pairs(ownersOf(own)))
    .filter(([before, after]) => !isTakenOver(before) && !isTakenOver(after)).length;

/** The writers of a log take turns: one never goes on after the next one has begun, unless the workstream came back to it. */
export function* oneWriter({ writes }: ClusterEvidence): Generator<Finding> {
  for (const [wsId, own] of byWorkstream(writes)) {
    const logged = ownersOf(own).flatMap((period) =>
      spansOf(
        period.writes.filter(({ table }) => table === 'events'),
        writerOf,
      ),
    );
    for (const [before, after] of pairs(logged.sort(byFirst))) {
      if (before.last > after.first)
        yield { what: `${before.of} and ${after.of} wrote at once`, where: `${wsId}, ${spanOf(after)}` };
    }
  }
}

const writerOf = ({ machine, lease, epoch }: Write): string => `${machine} in epoch ${epoch} of "${lease}"`;

/** As soon as anybody has seen that the lease of a worker has ended, the worker writes nothing in that epoch. */
export function* endedWorkersWriteNothing({ writes }: ClusterEvidence): Generator<Finding> {
  for (const write of writes.filter(isWorkers)) {
    const later = writes.find(({ first, epochs }) => first < write.last && (epochs[write.lease] ?? 0) > write.epoch);
    if (later)
      yield { what: `wrote in epoch ${write.epoch}, which had ended at write ${later.first}`, where: placeOf(write) };
  }
}

/** The machine that the answer named has the new workstream. */
export function* placedWhereAsked({ placements, writes }: ClusterEvidence): Generator<Finding> {
  const own = byWorkstream(writes);
  for (const { wsId, machine } of placements) {
    const [first] = ownersOf(own.get(wsId) ?? []);
    if (first && first.of !== machine) yield { what: `was created at ${machine}, but is at ${first.of}`, where: wsId };
  }
}

const byWorkstream = (writes: readonly Write[]): Map<string, Write[]> => Map.groupBy(writes, ({ wsId }) => wsId);

interface Period {
  of: string;
  first: number;
  last: number;
}

const spanOf = ({ first, last }: Period): string => `writes ${first} to ${last}`;

const byFirst = (one: { first: number }, other: { first: number }): number => one.first - other.first;

/** From the first to the last write of each, in the order of the first ones. */
const spansOf = (writes: readonly Write[], nameOf: (write: Write) => string): Period[] =>
  [...Map.groupBy(writes, nameOf)].map(([of, own]) => ({ of, ...spanIn(own) })).sort(byFirst);

const spanIn = (writes: readonly Write[]): Pick<Period, 'first' | 'last'> => ({
  first: Math.min(...writes.map(({ first }) => first)),
  last: Math.max(...writes.map(({ last }) => last)),
});

interface Ownership extends Period {
  writes: Write[];
}

/** Who had a workstream, one after the other; the same owner may come again. Rows that are gone have none. */
function ownersOf(writes: readonly Write[]): Ownership[] {
  const periods: { of: string; writes: Write[] }[] = [];
  for (const write of writes.toSorted(byFirst)) {
    const { owner: of } = write;
    if (of === undefined) continue;
    if (periods.at(-1)?.of !== of) periods.push({ of, writes: [] });
    periods.at(-1)?.writes.push(write);
  }
  return periods.map((period) => ({ ...period, ...spanIn(period.writes) }));
}

const pairs = <T>(list: readonly T[]): [T, T][] =>
  list.flatMap((before, index) => {
    const after = list[index + 1];
    return after === undefined ? [] : [[before, after]];
  });
