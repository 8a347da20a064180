import type { CronOccurrenceTable } from '../../src/gateway/store/schema/cron-schema.ts';
import type { Random } from '../checker/random.ts';
import type { CronRuleName } from './check.ts';
import type { CronEvidence, SimRun } from './evidence.ts';
import { runsByJob, TimeLine } from './time-line.ts';

/** A defect in a correct recording, and the rule that must detect it. */
export interface CronDefect {
  name: string;
  rule: CronRuleName;
  apply(evidence: CronEvidence, random: Random): void;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Records of jobs whose schedule was never changed, so that a missing record is not replaced by another, and of due times
 * that the clock really reached.
 */
function plainRows(evidence: CronEvidence): CronOccurrenceTable[] {
  const { occurrences, plans, jobs } = evidence;
  const { endWallMs } = new TimeLine(evidence);
  const steady = new Set(
    jobs.map(({ job_id }) => job_id).filter((id) => plans.filter(({ jobId }) => jobId === id).length === 1),
  );
  const lasting = new Set(plans.filter(({ schedule }) => schedule.kind !== 'at').map(({ jobId }) => jobId));
  return occurrences.filter(
    ({ job_id, scheduled_ms, trigger, status }) =>
      steady.has(job_id) &&
      lasting.has(job_id) &&
      scheduled_ms < endWallMs - HOUR_MS &&
      trigger === 'schedule' &&
      status === 'ok',
  );
}

/** Consecutive runs of one job. */
function someNeighbours({ runs }: CronEvidence, random: Random): [SimRun, SimRun] {
  const ofJob = random.pick([...runsByJob(runs).values()].filter(({ length }) => length > 2));
  const index = random.int(1, ofJob.length - 1);
  const [before, run] = [ofJob[index - 1], ofJob[index]];
  if (!before || !run) throw new Error('the story is too short');
  return [before, run];
}

/** A start that occurs nowhere else. */
function startAgain({ runs, attempts }: CronEvidence, run: SimRun, more: Partial<SimRun>): void {
  const again = { ...run, runId: `${run.runId}-again`, ...more };
  runs.push(again);
  const row = attempts.find(({ run_id }) => run_id === run.runId);
  if (row) attempts.push({ ...row, run_id: again.runId, attempt: again.attempt });
}

/** A run that took a while, in one process. */
const someWorking = (runs: readonly SimRun[], random: Random): SimRun =>
  random.pick(
    runs.filter(
      ({ startMs = 0, endMs = 0, holds, stoppedMs, maxRunMs }) =>
        holds.length === 1 && endMs - startMs > 5_000 && endMs - startMs < maxRunMs - 1_000 && stoppedMs === undefined,
    ),
  );

/** Removes all traces of the occurrence. */
function callMissed(evidence: CronEvidence, row: CronOccurrenceTable): void {
  const isOfIt = ({ jobId, scheduledMs }: { jobId: string; scheduledMs: number }) =>
    jobId === row.job_id && scheduledMs === row.scheduled_ms;
  Object.assign(row, {
    status: 'missed',
    error: 'Headgate was not running; its policy skips occurrences more than 60 s late',
  });
  evidence.runs = evidence.runs.filter((run) => !isOfIt(run));
  evidence.writes = evidence.writes.filter((write) => !isOfIt(write));
}

export const CRON_DEFECTS: CronDefect[] = [
  {
    name: 'a record is lost',
    rule: 'every due time has a record',
    apply(evidence, random) {
      const row = random.pick(plainRows(evidence));
      evidence.occurrences.splice(evidence.occurrences.indexOf(row), 1);
    },
  },
  {
    name: 'a record overlaps the next one',
    rule: 'no due time has two records',
    apply(evidence, random) {
      const rows = plainRows(evidence);
      const [row, next] = random.pick(
        rows.flatMap((one, index): [CronOccurrenceTable, CronOccurrenceTable][] => {
          const following = rows[index + 1];
          return following?.job_id === one.job_id ? [[one, following]] : [];
        }),
      );
      row.through_ms = next.scheduled_ms;
    },
  },
  {
    name: 'a record has a time at which its job was not due',
    rule: 'every record has a due time of its job',
    apply(evidence, random) {
      random.pick(plainRows(evidence)).scheduled_ms += 1;
    },
  },
  {
    name: 'an occurrence is left open',
    rule: 'every due occurrence has ended',
    apply: ({ occurrences }, random) =>
      void Object.assign(random.pick(occurrences), { status: 'started', ended_ms: null }),
  },
  {
    name: 'the reason for not running is missing',
    rule: 'an occurrence that did not run gives the reason',
    apply({ occurrences }, random) {
      random.pick(occurrences.filter(({ status }) => status === 'missed' || status === 'skipped')).error = null;
    },
  },
  {
    name: 'an occurrence in time is recorded as missed',
    rule: 'an occurrence that did not run gives the reason',
    apply({ occurrences }, random) {
      const last = [...Map.groupBy(occurrences, ({ job_id }) => job_id).values()].flatMap((rows) => rows.slice(-1));
      const row = random.pick(last.filter(({ trigger, status }) => trigger === 'schedule' && status === 'ok'));
      Object.assign(row, { status: 'missed', error: 'no slot was free in time', ended_ms: row.scheduled_ms });
    },
  },
  {
    name: 'an occurrence that could have run is recorded as missed',
    rule: 'a missed occurrence could not have run',
    apply(evidence, random) {
      for (const row of plainRows(evidence)) if (random.chance(0.2)) callMissed(evidence, row);
    },
  },
  {
    name: 'a wrong reason is recorded for a missed occurrence',
    rule: 'a missed occurrence gives the right reason',
    apply({ occurrences }, random) {
      const down = occurrences.filter(({ error }) => error?.startsWith('Headgate was not running'));
      random.pick(down).error = 'schedules were switched off; its policy skips occurrences more than 60 s late';
    },
  },
  {
    name: 'the reason for a missed occurrence names no cause',
    rule: 'a missed occurrence gives the right reason',
    apply({ occurrences }, random) {
      random.pick(occurrences.filter(({ status }) => status === 'missed')).error =
        'it was noticed late; a later occurrence ran instead';
    },
  },
  {
    name: 'an occurrence is blamed on another scheduler that was not involved',
    rule: 'a missed occurrence gives the right reason',
    apply({ occurrences, lives, writes }) {
      const [first] = lives;
      if (!first) throw new Error('the story is too short');
      // As if the same process had done everything.
      for (const one of [...lives, ...writes]) one.owner = first.owner;
      for (const row of occurrences) {
        if (row.status === 'missed')
          row.error = 'another scheduler was in charge of the job; a later occurrence ran instead';
      }
    },
  },
  {
    name: 'a process continues an occurrence that another has taken over',
    rule: 'a process that lost a claim writes no more',
    apply({ writes }, random) {
      const taken = random.pick(writes.filter(({ what, epoch }) => what === 'claim' && epoch > 1));
      writes.splice(writes.indexOf(taken) + 1, 0, {
        ...taken,
        what: 'renew',
        owner: 'who had it',
        epoch: taken.epoch - 1,
      });
    },
  },
  {
    name: 'a living process loses its claim to another',
    rule: 'no claim is taken from a living process',
    apply({ writes }, random) {
      const start = random.pick(writes.filter(({ what, epoch }) => what === 'start' && epoch === 1));
      writes.splice(writes.indexOf(start) + 1, 0, { ...start, what: 'claim', owner: 'who has none', epoch: 2 });
    },
  },
  {
    name: 'occurrences of dead processes are taken over late',
    rule: 'occurrences of a dead process are taken over',
    apply({ writes }) {
      for (const write of writes) if (write.what === 'claim' && write.epoch > 1) write.atMs += 600_000;
    },
  },
  {
    name: 'too many jobs run at once',
    rule: 'no more jobs run at once than allowed',
    apply({ runs, maxConcurrentRuns }, random) {
      const run = random.pick(runs.filter(({ holds: [hold] }) => hold?.toMs !== undefined && hold.toMs > hold.fromMs));
      for (let more = 0; more < maxConcurrentRuns; more += 1) runs.push({ ...run, jobId: `job ${more}` });
    },
  },
  {
    name: 'a run exceeds its time limit',
    rule: 'a run is stopped at its time limit',
    apply: ({ runs }, random) => void Object.assign(someWorking(runs, random), { maxRunMs: 1_000 }),
  },
  {
    name: 'a run is stopped before its time limit',
    rule: 'a run is stopped at its time limit',
    apply({ runs }, random) {
      const run = someWorking(runs, random);
      run.stoppedMs = run.endMs;
    },
  },
  {
    name: 'jobs are retried without backoff after errors',
    rule: 'a failed job waits for its backoff',
    apply({ runs }) {
      for (const ofJob of runsByJob(runs).values()) {
        for (const [index, run] of ofJob.entries()) run.startMs = ofJob[index - 1]?.endMs ?? run.startMs;
      }
    },
  },
  {
    name: 'an attempt starts twice',
    rule: 'an attempt starts once',
    apply: (evidence, random) => startAgain(evidence, someNeighbours(evidence, random)[1], {}),
  },
  {
    name: 'a start is not recorded',
    rule: 'every start is recorded',
    apply: ({ attempts }, random) => void attempts.splice(random.int(0, attempts.length - 1), 1),
  },
  {
    name: 'a successful run is repeated',
    rule: 'only errors are retried',
    apply(evidence, random) {
      const run = random.pick(evidence.runs.filter(({ outcome, endMs }) => outcome === 'ok' && endMs !== undefined));
      startAgain(evidence, run, { attempt: run.attempt + 1, startMs: run.endMs, endMs: run.endMs });
    },
  },
  {
    name: 'a job runs twice at a time',
    rule: 'a job never runs twice at a time',
    apply(evidence, random) {
      const [before, run] = someNeighbours(evidence, random);
      before.endMs = (run.startMs ?? 0) + 1;
    },
  },
  {
    name: 'starts are late',
    rule: 'a startable occurrence starts within a minute',
    apply({ runs }, random) {
      for (const run of runs) if (random.chance(0.2) && run.startMs !== undefined) run.startMs += 120_000;
    },
  },
  {
    name: 'a job starts before it is due',
    rule: 'a startable occurrence starts within a minute',
    apply({ runs }, random) {
      const run = random.pick(runs.filter(({ trigger, attempt }) => trigger === 'schedule' && attempt === 1));
      run.scheduledMs += 1_000 * DAY_MS;
    },
  },
  {
    name: 'a successful run is recorded as an error',
    rule: 'a record has the result of its run',
    apply: ({ occurrences }, random) =>
      void Object.assign(random.pick(occurrences.filter(({ status }) => status === 'ok')), {
        status: 'error',
        error: 'no luck',
      }),
  },
  {
    name: 'a job has a different last result',
    rule: 'a job agrees with its ledger',
    apply({ jobs }, random) {
      const job = random.pick(jobs.filter(({ last_json }) => last_json !== null));
      job.last_json = JSON.stringify({ ...JSON.parse(job.last_json ?? ''), status: 'interrupted' });
    },
  },
  {
    name: 'a finished job is enabled',
    rule: 'a job agrees with its ledger',
    apply({ jobs }, random) {
      const over = jobs.filter(({ definition_json }) => JSON.parse(definition_json).schedule.kind === 'at');
      Object.assign(random.pick(over), { enabled: 1, next_ms: null });
    },
  },
  {
    name: 'a job skips its next due time',
    rule: 'a job agrees with its ledger',
    apply({ jobs }, random) {
      random.pick(jobs.filter(({ enabled, next_ms }) => enabled === 1 && next_ms !== null)).next_ms = 1;
    },
  },
];
