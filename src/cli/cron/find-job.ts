import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { CronExtendedJob, CronJob } from '../../../protocol/cron.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { NotFoundError, UsageError } from '../../start-error.ts';

type Client = Pick<GatewayClient, 'call'>;

/** All jobs: the next due first, those without a next run last. */
export async function readJobs(client: Client): Promise<CronExtendedJob[]> {
  const { jobs } = await client.call('cron.list', { includeDisabled: true, extended: true });
  const nextOf = ({ state }: CronExtendedJob) => state.nextRunAtMs ?? Number.MAX_SAFE_INTEGER;
  return jobs.filter(isExtended).sort((a, b) => nextOf(a) - nextOf(b));
}

/** Finds a job by id, name, or the beginning of an id. Throws if none or several match. */
export async function findJob(client: Client, which: string): Promise<CronExtendedJob> {
  const job = await lookUpJob(client, which);
  if (job === undefined) throw unknownJob(which);
  return job;
}

export const unknownJob = (which: string): NotFoundError =>
  new NotFoundError(`Unknown job "${toVisibleLine(which)}". List jobs with: headgate cron list`);

/** Like `findJob`, but undefined if none matches. */
export async function lookUpJob(client: Client, which: string): Promise<CronExtendedJob | undefined> {
  const jobs = await readJobs(client);
  const exact = jobs.find(({ id }) => id === which);
  const named = jobs.filter(({ name }) => name === which);
  const begun = which === '' ? [] : jobs.filter(({ id }) => id.startsWith(which));
  const found = exact ? [exact] : named.length > 0 ? named : begun;
  if (named.length > 1 && !exact) throw new UsageError(`${toNameClash(which, named)}. Use the id.`);
  if (found.length > 1) {
    const ids = toList(found.map(({ id, name }) => `${id} (${toVisibleLine(name ?? '')})`));
    throw new UsageError(`"${which}" matches ${ids}. Give more of the id.`);
  }
  return found[0];
}

/** A warning if other jobs have the job's name; otherwise undefined. */
export function findNameClash(
  jobs: readonly CronExtendedJob[],
  { id, name }: Pick<CronJob, 'id' | 'name'>,
): string | undefined {
  const others = jobs.filter((job) => job.id !== id && job.name === name);
  if (name === undefined || others.length === 0) return undefined;
  return `${toNameClash(name, [...others, { id }])}. Use the ids, or rename this one: headgate cron edit ${id} --name NAME`;
}

const toNameClash = (name: string, jobs: readonly Pick<CronJob, 'id'>[]): string =>
  `${jobs.length} jobs are called "${toVisibleLine(name)}" (${toList(jobs.map(({ id }) => id))})`;

const MAX_LISTED = 5;

function toList(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  return more > 0 ? `${names.slice(0, MAX_LISTED).join(', ')} and ${more} more` : names.join(' or ');
}

export const isExtended = (job: CronJob | CronExtendedJob): job is CronExtendedJob => 'misfire' in job;
