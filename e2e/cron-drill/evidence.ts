import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { CronSchedule } from '../../protocol/cron.ts';
import type { CronAttemptTable, CronOccurrenceTable } from '../../src/gateway/store/schema/cron-schema.ts';
import { MAIN } from '../../src/gateway/workstreams/session-keys.ts';
import type { Boot, Disk, Effect } from '../checker/evidence.ts';
import { readDisk } from '../checker/read-disk.ts';
import { readEffects } from '../checker/recording/effects-file.ts';

/** The evidence about some jobs after the last restart, at rest. Plain data, and the only input of the rules. */
export interface CronEvidence {
  jobs: PlannedJob[];
  ledger: CronLedger;
  disk: Disk;
  effects: Effect[];
  boots: Boot[];
  /** After this time no run started. */
  restMs: number;
}

/** A job as returned by `cron.add`. */
export interface PlannedJob {
  id: string;
  schedule: CronSchedule;
  createdMs: number;
  /** The text that only this job sends to the main session; undefined if it asks the agent. */
  line?: string;
  /** Manual runs that were answered as started, each with its own key, however often requested. */
  forced: number;
}

export interface CronLedger {
  occurrences: CronOccurrenceTable[];
  attempts: CronAttemptTable[];
  /** For each existing job: the first due time without a record. */
  cursors: Record<string, number | null>;
  /** The runs of each job's session. */
  wsIds: Record<string, string>;
  mainWsId: string | undefined;
}

export async function readEvidence(
  home: string,
  { effectsFile, ...known }: Pick<CronEvidence, 'jobs' | 'boots' | 'restMs'> & { effectsFile: string },
): Promise<CronEvidence> {
  return { ...known, ledger: readCronLedger(home), disk: readDisk(home), effects: await readEffects(effectsFile) };
}

/** Reads the file, with or without a running daemon. */
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
