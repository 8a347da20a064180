import type { CronOccurrence, CronStatus } from './cron.ts';

/** The status of a job's run, ended or not. `due`: it has not started and waits for a free slot. */
export type RunStatus = CronStatus | 'running' | 'retrying' | 'due';

type Ended = Pick<CronOccurrence, 'status' | 'retryAtMs' | 'runAtMs'>;

/** The status of an occurrence, in the word that every client shows. */
export function runStatusOf({ status, retryAtMs, runAtMs }: Ended): RunStatus {
  if (status !== undefined) return status;
  if (retryAtMs !== undefined) return 'retrying';
  return runAtMs === undefined ? 'due' : 'running';
}
