import type { CronEvidence, CronLedger } from './evidence.ts';
import { latenessOf } from './rules.ts';

/** The counts of a drill. */
export interface CronScore {
  kills: number;
  /** The kills before the daemon was ready. */
  killsAtStart: number;
  /** Kills that left a due instant without a row, claims without a start, and starts without an end. */
  left: Record<Leftover, number>;
  occurrences: Record<string, number>;
  runsByHand: number;
  turns: number;
  commands: number;
  /** The delays of runs after the due time and the readiness of a daemon. */
  worstLateMs: number;
}

export type Leftover = 'due' | 'claimed' | 'started';

export const NO_SCORE: CronScore = {
  ...{ kills: 0, killsAtStart: 0, left: { due: 0, claimed: 0, started: 0 }, occurrences: {} },
  ...{ runsByHand: 0, turns: 0, commands: 0, worstLateMs: 0 },
};

/** The unfinished work that a dead daemon left. */
export const leftoversIn = ({ occurrences, cursors }: CronLedger, diedMs: number): Leftover[] => {
  const isDue = Object.values(cursors).some((nextMs) => nextMs !== null && nextMs <= diedMs);
  const has = (status: string) => occurrences.some((row) => row.status === status);
  return [...(isDue ? ['due' as const] : []), ...(['claimed', 'started'] as const).filter(has)];
};

/** The score plus the counts of a chapter. */
export function addChapter(score: CronScore, { ledger, boots, disk, effects, jobs }: CronEvidence): CronScore {
  const counts = { ...score.occurrences };
  for (const { status, count } of ledger.occurrences) counts[status] = (counts[status] ?? 0) + (count ?? 1);
  const late = ledger.occurrences.filter((row) => row.started_ms !== null).map((row) => latenessOf(row, boots));
  const isTurn = (wsId: string) => wsId !== ledger.mainWsId;
  return {
    ...score,
    occurrences: counts,
    runsByHand: score.runsByHand + jobs.reduce((sum, { forced }) => sum + forced, 0),
    turns: score.turns + disk.workstreams.filter(({ wsId }) => isTurn(wsId)).flatMap(({ runs }) => runs).length,
    commands: score.commands + effects.filter(({ phase }) => phase === 'begin').length,
    worstLateMs: Math.max(score.worstLateMs, ...late),
  };
}

export function toCronScoreCard(score: CronScore): string {
  const { kills, killsAtStart, left, occurrences, runsByHand, turns, commands, worstLateMs } = score;
  const statuses = Object.entries(occurrences).map(([status, count]) => `${count} ${status}`);
  const rows: [string, string | number][] = [
    ['kills', `${kills} (${killsAtStart} while starting)`],
    ['left behind', `due without a row ${left.due}, claimed ${left.claimed}, started ${left.started}`],
    ['occurrences', `${statuses.join(', ')}; ${runsByHand} of them by hand`],
    ['turns', `${turns} (${commands} commands)`],
    ['latest start', `${worstLateMs} ms after it was due and a daemon was ready`],
  ];
  return rows.map(([name, value]) => `${name.padEnd(14)}${value}\n`).join('');
}
