import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { dailyWhileSteady } from '../../timing/steady-time.ts';
import type { LiveSettings } from '../live-settings.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { PENDING } from './verdict-rows.ts';

interface OldRatingsDeps {
  store: Pick<Store, 'db' | 'commit'>;
  live: { judge: Pick<LiveSettings['judge'], 'retentionDays'> };
  clock: Clock;
  log: Log;
}

/** Removes verdicts and findings of the output guard when they are too old, also while their conversation is kept. */
export interface OldRatings {
  /** Sweeps once; stops between two batches when the signal aborts. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Sweeps daily, while the clock does not jump, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const DAY_MS = 86_400_000;
/** Rows per transaction, so that many of them do not block the event loop. */
const BATCH = 1_000;

/** As `judge.retentionDays` says. Verdicts about open questions stay. */
export function createOldRatings({ store, live, clock, log }: OldRatingsDeps): OldRatings {
  const sweep = async (signal: AbortSignal): Promise<void> => {
    const { retentionDays } = live.judge;
    if (retentionDays === 0) return;
    const beforeMs = clock.now() - retentionDays * DAY_MS;
    for (const removal of [oldVerdicts, oldFindings])
      for (let next = await removal(store, beforeMs); next && !signal.aborted; next = await removal(store, beforeMs)) {
        await store.commit({ statements: [next] });
        await nextTurn();
      }
  };
  const fail = (err: unknown) => log.warn({ err }, 'old verdicts and findings could not be removed');
  return { sweep, run: (signal) => dailyWhileSteady(clock, signal, () => sweep(signal).catch(fail)) };
}

/** The statement that removes the next batch; undefined when nothing is left. */
type Removal = (store: Pick<Store, 'db'>, beforeMs: number) => Promise<Statement | undefined>;

const oldVerdicts: Removal = async ({ db }, beforeMs) => {
  const rows = await db
    .selectFrom('verdicts')
    .select('verdict_id')
    .where('created_ms', '<', beforeMs)
    .where('user_decision', '!=', PENDING)
    .limit(BATCH)
    .execute();
  const ids = rows.map(({ verdict_id }) => verdict_id);
  return ids.length === 0 ? undefined : statementOf(build.deleteFrom('verdicts').where('verdict_id', 'in', ids));
};

const oldFindings: Removal = async ({ db }, beforeMs) => {
  const rows = await db
    .selectFrom('output_assessments')
    .select('assessment_id')
    .where('created_ms', '<', beforeMs)
    .limit(BATCH)
    .execute();
  const ids = rows.map(({ assessment_id }) => assessment_id);
  if (ids.length === 0) return undefined;
  return statementOf(build.deleteFrom('output_assessments').where('assessment_id', 'in', ids));
};
