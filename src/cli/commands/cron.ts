import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Result } from '../../../protocol/index.ts';
import { toVisibleLine, toVisibleText } from '../../../protocol/text/visible-text.ts';
import { systemClock } from '../../clock.ts';
import { zoneOf } from '../../cron/schedule/schedule.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { findHostTimeZone } from '../../host-time-zone.ts';
import { randomIds } from '../../ids.ts';
import { UsageError } from '../../start-error.ts';
import { readVersion } from '../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../connect.ts';
import { hasFailed, readRuns, runAsked, toOutcome } from '../cron/asked-run.ts';
import { changeJob } from '../cron/change-job.ts';
import { findJob, findNameClash, isExtended, lookUpJob, readJobs, unknownJob } from '../cron/find-job.ts';
import { toUsage } from '../cron/flag-words.ts';
import { toJobDetail } from '../cron/job-detail.ts';
import { type EditFlags, type NewJobFlags, readSchedule, readTime, toJobPatch, toNewJob } from '../cron/job-flags.ts';
import { jobName, toJobTable, toNextRunIn, toRunTable } from '../cron/job-table.ts';
import { findTroubles, toTroubleLines } from '../cron/job-troubles.ts';
import { toSwitches } from '../cron/schedule-status.ts';
import { type Here, toDistance, toLocal } from '../local-time.ts';
import { toTextTable } from '../text-table.ts';

export interface CronCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

type JsonFlags = TargetFlags & { json?: boolean };
export type ListFlags = JsonFlags;
export type AddFlags = JsonFlags & NewJobFlags;
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
    tell(`Schedules are switched off (${toSwitches(switchedOffBy)}): nothing runs automatically.`);
  if (jobs.length === 0) tell('Nothing is scheduled. For example: headgate cron add "every 15m" "look for new mail"');
  else process.stdout.write(await toJobTable(jobs, here()));
  for (const line of toTroubleLines(findTroubles(jobs))) tell(line);
}

export async function showJob(which: string, command: CronCommand<JsonFlags>): Promise<void> {
  const job = await ask(command, (client) => findJob(client, which));
  if (command.flags.json) print(job);
  else process.stdout.write(await toJobDetail(job, here()));
}

/** Prints only the id on stdout, for scripts; the explanation goes to stderr. */
export async function addJob(schedule: string, message: string, command: CronCommand<AddFlags>): Promise<void> {
  const { flags } = command;
  const read = readSchedule(schedule, flags.tz, here());
  const job = toNewJob(read.schedule, message, flags);
  const { added, others } = await ask(command, async (client) => ({
    others: await readJobs(client), // first: if it fails, nothing has been created
    added: await client.call('cron.add', { ...job, extended: true, idempotencyKey: randomIds.id('cli') }),
  })).catch(asUsage('add'));
  tellNote(read.note);
  tellNote(findNameClash(others, added));
  if (flags.json) return print(added);
  tellNotices(added);
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
  tellNotices(changed);
  const zone = read?.tz ?? zoneOf(changed.schedule, here());
  tell(`Changed "${jobName(changed)}"; next run: ${toNextRunIn(zone, changed, here())}.`);
}

export async function removeJob(which: string, command: CronCommand<JsonFlags>): Promise<void> {
  await ask(command, async (client) => {
    const job = await findJob(client, which);
    const removed = await client.call('cron.remove', { id: job.id });
    if (command.flags.json) print(removed);
    else tell(`Removed "${jobName(job)}". Its history is kept for a while: headgate cron runs ${job.id}`);
  });
}

/** Exit code 1 if the job could not run or failed. A job that was not due has not failed. */
export async function runJob(which: string, command: CronCommand<RunJobFlags>): Promise<void> {
  const { json, due, wait: waited } = command.flags;
  const { job, asked } = await ask(command, async (client) => {
    const found = await findJob(client, which);
    const request = { id: found.id, mode: due ? 'due' : 'force', wait: waited } as const;
    return { job: found, asked: await runAsked(client, { ...request, idempotencyKey: randomIds.id('cli') }) };
  });
  const { answer, run } = asked;
  if (hasFailed(asked, { waited })) process.exitCode = EXIT.failed;
  if (json) return print({ ...answer, ...(run && { run }) });
  tell(toOutcome(asked, { waited, here: here() }));
  if (run?.status === 'ok' && job.enabled && job.schedule.kind === 'at')
    tell(`This was a one-time job: no further runs.`);
  if (run?.summary !== undefined) process.stdout.write(`${toVisibleText(run.summary)}\n`);
}

/** Also lists the runs of a removed job, by its full id. */
export async function listRuns(which: string, command: CronCommand<RunsFlags>): Promise<void> {
  const { json, limit: typed } = command.flags;
  const limit = toCount(typed, { flag: '--limit', most: 5_000 }) ?? 20;
  const { job, runs } = await ask(command, async (client) => {
    const found = await lookUpJob(client, which);
    return { job: found, runs: isId(which) || found ? await readRuns(client, { id: found?.id ?? which, limit }) : [] };
  });
  if (!job && runs.length === 0) throw unknownJob(which);
  if (json) return print(runs);
  if (!job) tell('This job was removed. Its runs:');
  if (runs.length === 0) tell('No runs yet.');
  else process.stdout.write(toRunTable(runs, here()));
  const { failing, missed } = findTroubles(job ? [job] : []);
  for (const line of toTroubleLines({ failing: failing.filter(({ alert }) => alert), missed })) tell(line);
}

/** Whether the daemon accepts the text as an id. */
const isId = (text: string): boolean => text.length > 0 && text.length <= 64;

/** Describes a schedule and its next times, as the daemon computes them. */
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

/** Explains why a job did or did not run at a time such as `2026-12-24 18:00`, or what it waits for now. */
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

const here = (): Here => ({ nowMs: systemClock.now(), tz: findHostTimeZone() });
const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
/** What the daemon wants a person to know about the job. */
function tellNotices(job: Parameters<typeof isExtended>[0]): void {
  if (isExtended(job)) for (const { text } of job.notices ?? []) tell(`Note: ${toVisibleLine(text)}`);
}

const tellNote = (note: string | undefined): void => void (note !== undefined && tell(`${note}.`));
const tell = (text: string): void => void process.stderr.write(`${text}\n`);
