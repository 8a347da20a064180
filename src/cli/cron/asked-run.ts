import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { CronOccurrence, CronRun } from '../../../protocol/cron.ts';
import type { ParamsInput, Result } from '../../../protocol/index.ts';
import { toVisibleText } from '../../../protocol/visible-text.ts';
import { type Here, toDistance, toLocal } from '../local-time.ts';

export interface AskedRun {
  answer: Result<'cron.run'>;
  /** What the call began, as the history has it; undefined: nothing, or nobody waited for it. */
  run: CronOccurrence | undefined;
}

type Asked = ParamsInput<'cron.run'> & { mode: 'due' | 'force'; wait: boolean };

/** The longest that a run may be allowed, and a while for what comes after it. */
const LONGEST_RUN_MS = 7 * 86_400_000 + 60_000;
/** Of the latest runs, so many are looked at. */
const LOOKED_AT = 200;

/** Has a job run, and finds what became of that very run: what the history has since that it had not before. */
export async function runAsked(client: Pick<GatewayClient, 'call'>, asked: Asked): Promise<AskedRun> {
  const before = asked.wait ? await readRuns(client, { id: asked.id, limit: LOOKED_AT }) : [];
  const answer = await client.call('cron.run', asked, { timeoutMs: LONGEST_RUN_MS });
  if (!answer.ran || !asked.wait) return { answer, run: undefined };
  const after = await readRuns(client, { id: asked.id, limit: LOOKED_AT });
  return { answer, run: findBegun(before, after, asked) };
}

/** The latest of a job's history, oldest first. */
export async function readRuns(
  client: Pick<GatewayClient, 'call'>,
  asked: { id: string; limit: number },
): Promise<CronOccurrence[]> {
  const { entries } = await client.call('cron.runs', { ...asked, extended: true });
  return entries.filter(isOccurrence);
}

/** How it went, for people: also that a job that was not due did not run. */
export function toOutcome({ answer, run }: AskedRun, { waited, here }: { waited: boolean; here: Here }): string {
  if (!answer.ran) return answer.reason === 'not-due' ? 'It is not due.' : 'It is running already.';
  if (!waited) return 'It runs.';
  if (run === undefined) return 'It ran; headgate cron runs says what became of it.';
  const { status, error, retryAtMs } = run;
  const reason = error === undefined ? '' : `: ${toVisibleText(error)}`;
  if (status !== undefined) return `${status}${reason}`;
  if (retryAtMs !== undefined)
    return `error${reason}\nIt is tried again ${toLocal(retryAtMs, here)} (${toDistance(retryAtMs, here.nowMs)}).`;
  return error === undefined ? 'It still runs.' : `error${reason}\nIt is being tried again.`;
}

/** A job that was not due is no failure; an attempt that failed is one, also when another follows. */
export const hasFailed = ({ answer, run }: AskedRun, { waited }: { waited: boolean }): boolean =>
  answer.ran ? waited && run?.status !== 'ok' : answer.reason === 'already-running';

/** The first attempt since; the schedule may have begun others by now. */
function findBegun(before: CronOccurrence[], after: CronOccurrence[], { mode }: Asked): CronOccurrence | undefined {
  const known = new Map(before.map((run) => [run.scheduledAtMs, run]));
  const isNew = ({ scheduledAtMs }: CronOccurrence) => !known.has(scheduledAtMs);
  // Force begins a run of its own, or the next attempt of what waits to be tried again.
  const isMeant = (run: CronOccurrence) => mode === 'due' || run.trigger === 'forced' || !isNew(run);
  const tried = after.filter((run) => run.attempts > (known.get(run.scheduledAtMs)?.attempts ?? 0));
  // What never began is the last that came on record: it was skipped while it waited for its turn.
  return tried.find(isMeant) ?? after.filter(isNew).findLast(isMeant);
}

const isOccurrence = (entry: CronRun | CronOccurrence): entry is CronOccurrence => 'trigger' in entry;
