import type { ClusterEvidence } from '../checker/cluster/cluster-evidence.ts';
import type { Evidence } from '../checker/evidence.ts';
import { NOTHING_SEEN, type Tally, tallyOf } from '../drill/score.ts';
import type { Fault } from './faults.ts';

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
  /** The most that a client had to ask after a fault. */
  mostAttempts: number;
  violations: number;
}

export const NOTHING_DONE: ClusterScore = {
  ...NOTHING_SEEN,
  ...{ rounds: 0, faults: {}, holders: 0, writes: 0, runs: 0, approvals: 0, decided: 0, effects: 0, mostAttempts: 0 },
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
  return {
    ...before,
    ...tallyOf(evidence, before),
    holders: Math.max(before.holders, ...writes.map(({ epoch }) => epoch)),
    writes: before.writes + writes.length,
    runs: before.runs + evidence.disk.workstreams.flatMap(({ runs }) => runs).length,
    approvals: before.approvals + approvals.length,
    decided: before.decided + approvals.filter(({ status }) => status === 'approved' || status === 'denied').length,
    effects: before.effects + evidence.effects.length,
    mostAttempts: Math.max(before.mostAttempts, ...recoveries.map(({ attempts }) => attempts)),
  };
}

export function toClusterScoreCard(score: ClusterScore): string {
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
    ['most attempts', score.mostAttempts],
    ['violations', score.violations],
  ];
  return rows.map(([name, value]) => `${name.padEnd(42)}${value}\n`).join('');
}
