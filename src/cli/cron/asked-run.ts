import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { CronOccurrence, CronRun } from '../../../protocol/cron.ts';
import type { ParamsInput, Result } from '../../../protocol/index.ts';
import { toVisibleText } from '../../../protocol/text/visible-text.ts';
import { type Here, toDistance, toLocal } from '../local-time.ts';

export interface AskedRun {
  answer: Result<'cron.run'>;
  /** The run that the call started, from the history. Undefined if none started or the call did not wait. */
  run: CronOccurrence | undefined;
}

type Asked = ParamsInput<'cron.run'> & { mode: 'due' | 'force'; wait: boolean };

/** The longest allowed run, plus a margin. */
const LONGEST_RUN_MS = 7 * 86_400_000 + 60_000;
/** How many of the latest runs are read. */
const LOOKED_AT = 200;

/** Triggers a job, waits for that run's outcome, and finds the run by comparing the history before and after. */
export async function runAsked(client: Pick<GatewayClient, 'call'>, asked: Asked): Promise<AskedRun> {
  const before = asked.wait ? await readRuns(client, { id: asked.id, limit: LOOKED_AT }) : [];
  const answer = await client.call('cron.run', asked, { timeoutMs: LONGEST_RUN_MS });
  if (!answer.ran || !asked.wait) return { answer, run: undefined };
  const after = await readRuns(client, { id: asked.id, limit: LOOKED_AT });
  return { answer, run: findBegun(before, after, asked) };
}

/** The latest runs of a job, oldest first. */
export async function readRuns(
  client: Pick<GatewayClient, 'call'>,
  asked: { id: string; limit: number },
): Promise<CronOccurrence[]> {
  const { entries } = await client.call('cron.runs', { ...asked, extended: true });
  return entries.filter(isOccurrence);
}

/** The outcome in words, also for a job that did not run because it was not due. */
export function toOutcome({ answer, run }: AskedRun, { waited, here }: { waited: boolean; here: Here }): string {
  if (!answer.ran) return answer.reason === 'not-due' ? 'It is not due.' : 'It is running already.';
  if (!waited) return 'Started.';
  if (run === undefined) return 'It ran. Find the outcome with: headgate cron runs JOB';
  const { status, error, retryAtMs } = run;
  const reason = error === undefined ? '' : `: ${toVisibleText(error)}`;
  if (status !== undefined) return `${status}${reason}`;
  if (retryAtMs !== undefined)
    return `error${reason}\nNext attempt: ${toLocal(retryAtMs, here)} (${toDistance(retryAtMs, here.nowMs)}).`;
  return error === undefined ? 'Still running.' : `error${reason}\nA retry is running.`;
}

/** A job that was not due has not failed. A failed attempt counts as a failure, even if a retry follows. */
export const hasFailed = ({ answer, run }: AskedRun, { waited }: { waited: boolean }): boolean =>
  answer.ran ? waited && run?.status !== 'ok' : answer.reason === 'already-running';

/** The first attempt since the call; the schedule may have started others after it. */
function findBegun(before: CronOccurrence[], after: CronOccurrence[], { mode }: Asked): CronOccurrence | undefined {
  const known = new Map(before.map((run) => [run.scheduledAtMs, run]));
  const isNew = ({ scheduledAtMs }: CronOccurrence) => !known.has(scheduledAtMs);
  // Force starts a separate run, or the next attempt of a run that waits for its retry.
  const isMeant = (run: CronOccurrence) => mode === 'due' || run.trigger === 'forced' || !isNew(run);
  const tried = after.filter((run) => run.attempts > (known.get(run.scheduledAtMs)?.attempts ?? 0));
  // A run that never started was skipped while it waited for its turn; it was recorded last.
  return tried.find(isMeant) ?? after.filter(isNew).findLast(isMeant);
}

const isOccurrence = (entry: CronRun | CronOccurrence): entry is CronOccurrence => 'trigger' in entry;
