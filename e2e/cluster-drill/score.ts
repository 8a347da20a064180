import { type ClusterEvidence, movingFrom, type Write } from '../checker/cluster/cluster-evidence.ts';
import { DAEMON_LEASE, movesIn } from '../checker/cluster/owner-rules.ts';
import type { Evidence } from '../checker/evidence.ts';
import { NOTHING_SEEN, sharesOf, type Tally, tallyOf } from '../drill/score.ts';
import type { Fault } from './strike.ts';

/** The counts of a drill. */
export interface ClusterScore extends Tally {
  rounds: number;
  /** How often each fault struck. */
  faults: Record<string, number>;
  /** How often the lease changed hands, or was taken again by a new process. */
  holders: number;
  /** Transactions that the database recorded, by session, table and epoch. */
  writes: number;
  runs: number;
  approvals: number;
  decided: number;
  effects: number;
  /** The most that a client had to ask after a fault, and how long that took each time. */
  mostAttempts: number;
  recoveryMs: number[];
  slowest: string;
  /** Workstreams of workers, and those of them that the active daemon took over. */
  atWorkers: number;
  takenOver: number;
  /** How often a workstream was given to another machine in order. */
  moves: number;
  /** Rounds in which the clocks of the machines were wrong. */
  withWrongClocks: number;
  violations: number;
}

export const NOTHING_DONE: ClusterScore = {
  ...NOTHING_SEEN,
  ...{ rounds: 0, faults: {}, holders: 0, writes: 0, runs: 0, approvals: 0, decided: 0, effects: 0, mostAttempts: 0 },
  ...{ recoveryMs: [], slowest: '', atWorkers: 0, takenOver: 0, moves: 0, withWrongClocks: 0 },
  violations: 0,
};

export function addFaults({ faults }: ClusterScore, struck: readonly Fault[]): void {
  for (const { name } of struck) faults[name] = (faults[name] ?? 0) + 1;
}

interface Chapter {
  evidence: Evidence;
  facts: Pick<ClusterEvidence, 'writes' | 'recoveries'>;
}

/** The counts after one more chapter. */
export function scoreOf(before: ClusterScore, { evidence, facts: { writes, recoveries } }: Chapter): ClusterScore {
  const approvals = evidence.disk.workstreams.flatMap((workstream) => workstream.approvals);
  const slowest = recoveries.toSorted((one, other) => other.tookMs - one.tookMs)[0];
  const isSlower = slowest !== undefined && slowest.tookMs > Math.max(0, ...before.recoveryMs);
  const owned = (isIt: (write: Write) => boolean) => new Set(writes.filter(isIt).map(({ wsId }) => wsId)).size;
  return {
    ...before,
    ...tallyOf(evidence, before),
    holders: Math.max(before.holders, ...writes.map(({ epochs }) => epochs[DAEMON_LEASE] ?? 0)),
    atWorkers: before.atWorkers + owned(({ owner, machine }) => owner === machine),
    takenOver: before.takenOver + owned(({ owner }) => owner?.startsWith(movingFrom('')) === true),
    moves: before.moves + movesIn(writes),
    slowest: isSlower ? `${slowest.machine} after ${slowest.faults}` : before.slowest,
    recoveryMs: [...before.recoveryMs, ...recoveries.map(({ tookMs }) => tookMs)],
    writes: before.writes + writes.length,
    runs: before.runs + evidence.disk.workstreams.flatMap(({ runs }) => runs).length,
    approvals: before.approvals + approvals.length,
    decided: before.decided + approvals.filter(({ status }) => status === 'approved' || status === 'denied').length,
    effects: before.effects + evidence.effects.length,
    mostAttempts: Math.max(before.mostAttempts, ...recoveries.map(({ attempts }) => attempts)),
  };
}

export function toClusterScoreCard(score: ClusterScore): string {
  const { p50, p99, worst } = sharesOf(score.recoveryMs);
  const rows: [string, string | number][] = [
    ['rounds', score.rounds],
    ...Object.entries(score.faults).map(([name, count]): [string, number] => [`  ${name}`, count]),
    ['holders', score.holders],
    ['connections', `${score.connections} (${score.resumes} continued)`],
    ['events seen', score.eventsSeen],
    ['calls', `${score.calls} (${score.unanswered} without an answer)`],
    ['runs', score.runs],
    ['approvals', `${score.approvals} (${score.decided} decided)`],
    ['effects', `${score.effects} lines written by commands`],
    ['workstreams of workers', `${score.atWorkers} (${score.takenOver} taken over)`],
    ['moves', score.moves],
    ['rounds with wrong clocks', score.withWrongClocks],
    ['recovered after', `${p50} ms (p50), ${p99} ms (p99), ${worst} ms (worst: ${score.slowest})`],
    ['most attempts', score.mostAttempts],
    ['violations', score.violations],
  ];
  return rows.map(([name, value]) => `${name.padEnd(42)}${value}\n`).join('');
}
