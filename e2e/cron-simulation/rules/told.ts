import type { CronOccurrenceTable } from '../../../src/gateway/store/schema/cron-schema.ts';
import type { CronEvidence, CronFinding, CronWrite, Plan, Span } from '../evidence.ts';
import { FreeTime, type Hold, holds } from '../free-time.ts';
import { TimeLine } from '../time-line.ts';

/** A clock jump is noticed within a minute; an occurrence before that may count as part of the jump. */
const NOTICED_MS = 61_000;
/** Schedulers look this often at what the others do. */
const LOOK_MS = 11_000;

interface Surroundings {
  evidence: CronEvidence;
  line: TimeLine;
  free: FreeTime;
  holdsOf: ReadonlyMap<string, Hold[]>;
  plansOf: ReadonlyMap<string, Plan[]>;
}

/** A missed occurrence names its reason: an event between the first due time that was given up and the record. */
export function* toldTruly(evidence: CronEvidence): Iterable<CronFinding> {
  const decisions = evidence.writes.filter(({ what }) => what === 'settle' || what === 'end');
  const decided = new Map(decisions.map((write) => [`${write.jobId} ${write.scheduledMs}`, write]));
  const firstOf = new Map(
    [...Map.groupBy(decisions, groupOf)].map(([group, writes]) => [
      group,
      Math.min(...writes.map(({ scheduledMs }) => scheduledMs)),
    ]),
  );
  const surroundings: Surroundings = {
    ...{ evidence, line: new TimeLine(evidence), free: new FreeTime(evidence) },
    holdsOf: Map.groupBy(holds(evidence), ({ run }) => run.jobId),
    plansOf: Map.groupBy(evidence.plans, ({ jobId }) => jobId),
  };
  for (const row of evidence.occurrences) {
    const write = decided.get(`${row.job_id} ${row.scheduled_ms}`);
    if (row.status !== 'missed' || !write) continue;
    if (isTrue(row, { ...write, firstMs: firstOf.get(groupOf(write)) ?? write.scheduledMs }, surroundings)) continue;
    yield {
      jobId: row.job_id,
      what: `${new Date(row.scheduled_ms).toISOString()}: the reason "${row.error}" is wrong`,
    };
  }
}

const groupOf = ({ what, owner, jobId, atMs }: CronWrite): string => `${what} ${owner} ${jobId} ${atMs}`;

type Decision = CronWrite & { firstMs: number };

function isTrue({ error }: CronOccurrenceTable, decision: Decision, surroundings: Surroundings): boolean {
  const sinceMs = surroundings.line.reached(decision.firstMs, decision.atMs);
  const since = { fromMs: sinceMs - 1, toMs: decision.atMs + 1 };
  const reason = Object.keys(REASONS).find((known) => error?.startsWith(known));
  return REASONS[reason ?? '']?.({ ...surroundings, ...decision, since }) === true;
}

type Told = Surroundings & Decision & { since: Span };

/** By their first words. "It was noticed late" is never right: nothing in the simulation delays a scheduler without a name. */
const REASONS: Record<string, (told: Told) => boolean | undefined> = {
  'Headgate was not running': ({ evidence, owner, since }) =>
    evidence.lives.some((life) => life.owner === owner && life.fromMs > since.fromMs),
  'Headgate was unresponsive': ({ evidence, owner, since }) =>
    evidence.stalls.some((stall) => stall.owner === owner && overlaps(stall, since)),
  'the machine slept, or its clock was set forward': (told) => {
    const since = { ...told.since, fromMs: told.since.fromMs - NOTICED_MS };
    return wasBlocked({ ...told, since }, 'the machine sleeps') || hasLeapt(told.evidence, since);
  },
  'the store could not be written': (told) => wasBlocked(told, 'the store takes no writes'),
  'schedules were switched off': (told) => wasBlocked(told, 'schedules are off'),
  'another scheduler was in charge of the job': (told) => {
    const since = { ...told.since, fromMs: told.since.fromMs - LOOK_MS };
    return hadTheirs({ ...told, since });
  },
  'the previous run was still in progress': ({ holdsOf, jobId, since }) =>
    holdsOf.get(jobId)?.some((hold) => overlaps(hold, since)),
  'earlier runs were in progress, or no slot was free': ({ holdsOf, jobId, free, owner, since }) =>
    holdsOf.get(jobId)?.some((hold) => overlaps(hold, since)) ||
    free.fullOf(owner).some((full) => overlaps(full, since)),
  'no slot was free in time': ({ free, owner, since }) => free.fullOf(owner).some((full) => overlaps(full, since)),
  'its time had already passed when the job was': ({ plansOf, jobId, line, firstMs }) =>
    plansOf.get(jobId)?.some(({ madeMs }) => line.wallAt(madeMs) >= firstMs),
};

const overlaps = (one: Span, other: Span): boolean => one.fromMs < other.toMs && one.toMs > other.fromMs;

/** Whether another scheduler had a claim, or the job was changed while it lived, and it was away at some time since. */
function hadTheirs({ evidence, free, plansOf, jobId, owner, since }: Told): boolean {
  const claims = free.episodesOf(jobId).flatMap((episode) => episode.claims);
  const made = (plansOf.get(jobId) ?? []).map(({ madeMs }) => ({ fromMs: madeMs, toMs: madeMs }));
  const changed = made.filter((plan) => overlaps(plan, since));
  const involved = [
    ...claims.filter((claim) => overlaps(claim, since)),
    ...evidence.lives.filter((life) => changed.some((plan) => overlaps(life, plan))),
  ];
  return involved.some((one) => one.owner !== owner && free.awayOf(one.owner).some((away) => overlaps(away, since)));
}

const wasBlocked = ({ evidence, since }: Told, name: CronEvidence['blocked'][number]['why']): boolean =>
  evidence.blocked.some((block) => block.why === name && overlaps(block, since));

const hasLeapt = ({ wallSteps }: CronEvidence, { fromMs, toMs }: Span): boolean =>
  wallSteps.some(({ trueMs, offsetMs }, index) => {
    const before = wallSteps[index - 1];
    return before !== undefined && offsetMs > before.offsetMs && trueMs > fromMs && trueMs < toMs;
  });
