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

/** It stays with a worker until that is lost. Then the active daemon takes it over, and keeps it. */
export function* oneOwner({ writes }: ClusterEvidence): Generator<Finding> {
  for (const [wsId, own] of byWorkstream(writes)) {
    const periods = periodsOf(own, ({ owner = '' }) => owner).filter(({ of }) => of !== '');
    const workers = periods.map(({ of }) => of).filter((of) => of !== ACTIVE && !of.startsWith(movingFrom('')));
    if (workers.length > 1) yield { what: `was with ${workers.join(' and with ')}`, where: wsId };
    const [worker = ''] = workers;
    const order = [worker, movingFrom(worker), ACTIVE];
    for (const [before, after] of pairs(periods)) {
      if (order.indexOf(before.of) > order.indexOf(after.of) || before.last > after.first)
        yield {
          what: `was with ${before.of}, then with ${after.of}, and both wrote`,
          where: `${wsId}, ${spanOf(after)}`,
        };
    }
  }
}

/** The writers of a log take turns: one never goes on after the next one has begun. */
export function* oneWriter({ writes }: ClusterEvidence): Generator<Finding> {
  for (const [wsId, own] of byWorkstream(writes.filter(({ table }) => table === 'events'))) {
    const periods = periodsOf(own, ({ machine, lease, epoch }) => `${machine} in epoch ${epoch} of "${lease}"`);
    for (const [before, after] of pairs(periods)) {
      if (before.last > after.first)
        yield { what: `${before.of} and ${after.of} wrote at once`, where: `${wsId}, ${spanOf(after)}` };
    }
  }
}

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
    const [first] = periodsOf(own.get(wsId) ?? [], ({ owner = '' }) => owner);
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

/** From the first to the last write of each, in the order of the first ones. */
function periodsOf(writes: readonly Write[], nameOf: (write: Write) => string): Period[] {
  return [...Map.groupBy(writes, nameOf)]
    .map(([of, own]) => ({
      of,
      first: Math.min(...own.map(({ first }) => first)),
      last: Math.max(...own.map(({ last }) => last)),
    }))
    .sort((one, other) => one.first - other.first);
}

const pairs = <T>(list: readonly T[]): [T, T][] =>
  list.flatMap((before, index) => {
    const after = list[index + 1];
    return after === undefined ? [] : [[before, after]];
  });
