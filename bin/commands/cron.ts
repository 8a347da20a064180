import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import type { CronOccurrence, CronRun } from '../../protocol/cron.ts';
import type { Result } from '../../protocol/index.ts';
import { toVisibleText } from '../../protocol/visible-text.ts';
import { systemClock } from '../../src/clock.ts';
import { zoneOf } from '../../src/cron/schedule.ts';
import { randomIds } from '../../src/ids.ts';
import { readVersion } from '../assets.ts';
import { resolveTarget, type TargetFlags, withClient } from '../connect.ts';
import { changeJob } from '../cron/change-job.ts';
import { findJob, findNameClash, isExtended, readJobs } from '../cron/find-job.ts';
import { toUsage } from '../cron/flag-words.ts';
import { type EditFlags, type JobFlags, readSchedule, readTime, toJobPatch, toNewJob } from '../cron/job-flags.ts';
import { jobName, toJobTable, toNextRunIn, toRunTable } from '../cron/job-table.ts';
import { findTroubles, toTroubleLines } from '../cron/job-troubles.ts';
import { toSwitches } from '../cron/schedule-status.ts';
import { type Here, toDistance, toLocal } from '../local-time.ts';
import type { Surroundings } from '../options.ts';
import { UsageError } from '../start-error.ts';
import { toTextTable } from '../text-table.ts';

export interface CronCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

type JsonFlags = TargetFlags & { json?: boolean };
export type ListFlags = JsonFlags;
export type AddFlags = JsonFlags & JobFlags & { disabled?: boolean };
export type EditJobFlags = JsonFlags & EditFlags;
/** `wait` is false for `--no-wait`. */
export type RunJobFlags = JsonFlags & { due?: boolean; wait: boolean };
export type RunsFlags = JsonFlags & { limit?: string };
export type PreviewFlags = JsonFlags & { count?: string; tz?: string };
export type ExplainFlags = JsonFlags & { tz?: string };

export async function listJobs(command: CronCommand<ListFlags>): Promise<void> {
  const [jobs, { switchedOffBy = [] }] = await ask(command, (client) =>
    Promise.all([readJobs(client), client.call('cron.status', { extended: true })]),
  );
  if (command.flags.json) return print(jobs);
  if (switchedOffBy.length > 0)
    tell(`Schedules are switched off (${toSwitches(switchedOffBy)}): nothing runs by itself.`);
  if (jobs.length === 0) tell('Nothing is scheduled. For example: headgate cron add "every 15m" "look for new mail"');
  else process.stdout.write(await toJobTable(jobs, here()));
  for (const line of toTroubleLines(findTroubles(jobs))) tell(line);
}

/** Prints the id alone on stdout, for scripts; what it means goes to stderr. */
export async function addJob(schedule: string, message: string, command: CronCommand<AddFlags>): Promise<void> {
  const { flags } = command;
  const read = readSchedule(schedule, flags.tz, here());
  const job = toNewJob(read.schedule, message, flags);
  const { added, others } = await ask(command, async (client) => ({
    others: await readJobs(client), // first: when it fails, nothing was made
    added: await client.call('cron.add', { ...job, extended: true, idempotencyKey: randomIds.id('cli') }),
  })).catch(asUsage('add'));
  tellNote(read.note);
  tellNote(findNameClash(others, added));
  if (flags.json) return print(added);
  if (isExtended(added)) tell(`Added "${jobName(added)}"; next run: ${toNextRunIn(read.tz, added, here())}.`);
  process.stdout.write(`${added.id}\n`);
}

export async function editJob(which: string, command: CronCommand<EditJobFlags>): Promise<void> {
  const { schedule, tz, name, json } = command.flags;
  const read = schedule === undefined ? undefined : readSchedule(schedule, tz, here());
  const { changed, others } = await ask(command, async (client) => ({
    others: name === undefined ? [] : await readJobs(client),
    changed: await changeJob(client, which, (job) => toJobPatch(job, command.flags, here())),
  })).catch(asUsage('edit'));
  tellNote(read?.note);
  tellNote(findNameClash(others, changed));
  if (json) return print(changed);
  if (!isExtended(changed)) return;
  const zone = read?.tz ?? zoneOf(changed.schedule, here());
  tell(`Changed "${jobName(changed)}"; next run: ${toNextRunIn(zone, changed, here())}.`);
}

export async function removeJob(which: string, command: CronCommand<JsonFlags>): Promise<void> {
  await ask(command, async (client) => {
    const job = await findJob(client, which);
    const removed = await client.call('cron.remove', { id: job.id });
    if (command.flags.json) print(removed);
    else tell(`Removed "${jobName(job)}" and its history.`);
  });
}

/** The longest that a run may be allowed, and a while for what comes after it. */
const LONGEST_RUN_MS = 7 * 86_400_000 + 60_000;

/** Exit code 1 when it could not run or did not end well; a job that was not due is no failure. */
export async function runJob(which: string, command: CronCommand<RunJobFlags>): Promise<void> {
  const { json, due, wait } = command.flags;
  const { answer, run } = await ask(command, async (client) => {
    const { id } = await findJob(client, which);
    const asked = { id, mode: due ? 'due' : 'force', wait, idempotencyKey: randomIds.id('cli') } as const;
    const answered = await client.call('cron.run', asked, { timeoutMs: LONGEST_RUN_MS });
    return { answer: answered, run: answered.ran && wait ? await findLastRun(client, id) : undefined };
  });
  const isRefused = !answer.ran && answer.reason === 'already-running';
  if (isRefused || (run !== undefined && run.status !== 'ok')) process.exitCode = 1;
  if (json) return print({ ...answer, ...(run && { run }) });
  tell(toOutcome(answer, run));
  if (run?.summary !== undefined) process.stdout.write(`${toVisibleText(run.summary)}\n`);
}

export async function listRuns(which: string, command: CronCommand<RunsFlags>): Promise<void> {
  const { json, limit } = command.flags;
  const most = toCount(limit, { flag: '--limit', most: 5_000 }) ?? 20;
  const { job, entries } = await ask(command, async (client) => {
    const found = await findJob(client, which);
    return { job: found, ...(await client.call('cron.runs', { id: found.id, limit: most, extended: true })) };
  });
  if (json) return print(entries);
  if (entries.length === 0) tell('It has not run yet.');
  else process.stdout.write(toRunTable(entries.filter(isOccurrence), here()));
  const { failing, missed } = findTroubles([job]);
  for (const line of toTroubleLines({ failing: failing.filter(({ alert }) => alert), missed })) tell(line);
}

/** What a schedule means, as the daemon counts it. */
export async function previewSchedule(text: string, command: CronCommand<PreviewFlags>): Promise<void> {
  const { json } = command.flags;
  const count = toCount(command.flags.count, { flag: '--count', most: 50 }) ?? 10;
  const read = readSchedule(text, command.flags.tz, here());
  const { schedule, tz } = read;
  const preview = await ask(command, (client) => client.call('cron.preview', { schedule, count, tz }));
  tellNote(read.note);
  if (json) return print(preview);
  tell(`${preview.description}, times in ${preview.tz}:`);
  process.stdout.write(toPreviewTable(preview, here()));
}

/** Why it did or did not run: now, or at a time that the job was due, as `2026-12-24 18:00`. */
export async function explainJob(
  which: string,
  when: string | undefined,
  command: CronCommand<ExplainFlags>,
): Promise<void> {
  const { json, tz } = command.flags;
  const time = when === undefined ? undefined : readTime(when, tz, here());
  const explained = await ask(command, async (client) => {
    const { id } = await findJob(client, which);
    return client.call('cron.explain', { id, ...(time && { atMs: time.atMs }) });
  });
  tellNote(time?.note);
  if (json) return print(explained);
  const { atMs: asked, verdict, because, occurrence, previousAtMs, nextAtMs } = explained;
  process.stdout.write(`${toLocal(asked, here())}, ${verdict}: ${toVisibleText(because)}\n`);
  if (occurrence) process.stdout.write(toRunTable([occurrence], here()));
  if (previousAtMs !== undefined) tell(`Before that: ${toLocal(previousAtMs, here())}.`);
  if (nextAtMs !== undefined) tell(`After that: ${toLocal(nextAtMs, here())}.`);
}

async function ask<T>({ flags, around, root }: CronCommand, use: (client: GatewayClient) => Promise<T>): Promise<T> {
  const target = await resolveTarget(flags, around);
  return withClient({ target, version: await readVersion(root) }, use);
}

const asUsage = (change: 'add' | 'edit') => (error: unknown) => {
  throw toUsage(error, change);
};

/** The run that was just asked for: the last one that somebody asked for. */
async function findLastRun(client: GatewayClient, id: string): Promise<CronOccurrence | undefined> {
  const { entries } = await client.call('cron.runs', { id, limit: 20, extended: true });
  return entries.filter(isOccurrence).findLast(({ trigger }) => trigger === 'forced');
}

function toOutcome(answer: Result<'cron.run'>, run: CronOccurrence | undefined): string {
  if (!answer.ran) return answer.reason === 'not-due' ? 'It is not due.' : 'It is running already.';
  if (run === undefined) return 'It runs.';
  return `${run.status ?? 'running'}${run.error === undefined ? '' : `: ${toVisibleText(run.error)}`}`;
}

function toPreviewTable({ runs, tz }: Result<'cron.preview'>, { nowMs, tz: zone }: Here): string {
  const isElsewhere = tz !== zone;
  const rows = runs.map(({ atMs, offset }) => [
    `${toLocal(atMs, { tz })} ${offset}`,
    ...(isElsewhere ? [toLocal(atMs, { tz: zone })] : []),
    toDistance(atMs, nowMs),
  ]);
  return toTextTable([['RUN', ...(isElsewhere ? [`IN ${zone}`] : []), ''], ...rows]);
}

function toCount(text: string | undefined, { flag, most }: { flag: string; most: number }): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  throw new UsageError(`${flag} must be a number from 1 to ${most}, not "${text}".`);
}

const isOccurrence = (entry: CronRun | CronOccurrence): entry is CronOccurrence => 'trigger' in entry;

const here = (): Here => ({ nowMs: systemClock.now(), tz: Intl.DateTimeFormat().resolvedOptions().timeZone });
const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
const tellNote = (note: string | undefined): void => void (note !== undefined && tell(`${note}.`));
const tell = (text: string): void => void process.stderr.write(`${text}\n`);
