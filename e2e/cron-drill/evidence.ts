import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { CronSchedule } from '../../protocol/cron.ts';
import type { CronAttemptTable, CronOccurrenceTable } from '../../src/gateway/store/schema/cron-schema.ts';
import { MAIN } from '../../src/gateway/workstreams/session-keys.ts';
import type { Boot, Disk, Effect } from '../checker/evidence.ts';
import { readDisk } from '../checker/read-disk.ts';
import { readEffects } from '../checker/recording/effects-file.ts';

/** All that is known of some jobs after the last restart, at rest. Plain data; the rules decide from it alone. */
export interface CronEvidence {
  jobs: PlannedJob[];
  ledger: CronLedger;
  disk: Disk;
  effects: Effect[];
  boots: Boot[];
  /** From then on nothing was begun any more. */
  restMs: number;
}

/** A job as it was answered when it was made. */
export interface PlannedJob {
  id: string;
  schedule: CronSchedule;
  createdMs: number;
  /** What only this job says to the main session; undefined: it asks the agent. */
  line?: string;
  /** Runs that were asked for by hand and answered as begun, each under a key of its own, however often asked. */
  forced: number;
}

export interface CronLedger {
  occurrences: CronOccurrenceTable[];
  attempts: CronAttemptTable[];
  /** Of each job there is: the first instant without a record. */
  cursors: Record<string, number | null>;
  /** Of each job's session. */
  wsIds: Record<string, string>;
  mainWsId: string | undefined;
}

export async function readEvidence(
  home: string,
  { effectsFile, ...known }: Pick<CronEvidence, 'jobs' | 'boots' | 'restMs'> & { effectsFile: string },
): Promise<CronEvidence> {
  return { ...known, ledger: readCronLedger(home), disk: readDisk(home), effects: await readEffects(effectsFile) };
}

/** As it is in the file, beside a daemon or after it. */
export function readCronLedger(home: string): CronLedger {
  using db = new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });
  db.exec('begin'); // one transaction: a daemon may be writing
  const all = (sql: string) => db.prepare(sql).all();
  const sessions = all(
    "select ws_id, session_key from workstreams where session_key like 'cron:%' or session_key = 'main'",
  );
  const wsIds = Object.fromEntries(sessions.map(({ ws_id, session_key }) => [String(session_key), String(ws_id)]));
  return {
    // The casts match the contents of the columns.
    occurrences: all(
      'select * from cron_occurrences order by job_id, scheduled_ms',
    ) as unknown as CronOccurrenceTable[],
    attempts: all(
      'select * from cron_attempts order by job_id, scheduled_ms, attempt',
    ) as unknown as CronAttemptTable[],
    cursors: Object.fromEntries(
      all('select job_id, next_ms from cron_jobs').map(({ job_id, next_ms }) => [
        String(job_id),
        next_ms === null ? null : Number(next_ms),
      ]),
    ),
    wsIds,
    mainWsId: wsIds[MAIN],
  };
}
