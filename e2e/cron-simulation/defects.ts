import type { CronOccurrenceTable } from '../../src/gateway/store/cron-schema.ts';
import type { Random } from '../checker/random.ts';
import type { CronRuleName } from './check.ts';
import type { CronEvidence, SimRun } from './evidence.ts';
import { runsByJob } from './time-line.ts';

/** A lie about a true story, and the rule that has to see through it. */
export interface CronDefect {
  name: string;
  rule: CronRuleName;
  apply(evidence: CronEvidence, random: Random): void;
}

const DAY_MS = 86_400_000;

/** Records of jobs whose schedule was never changed, so that nothing else stands where one is missing. */
function plainRows({ occurrences, plans, jobs }: CronEvidence): CronOccurrenceTable[] {
  const steady = new Set(
    jobs.map(({ job_id }) => job_id).filter((id) => plans.filter(({ jobId }) => jobId === id).length === 1),
  );
  const lasting = new Set(plans.filter(({ schedule }) => schedule.kind !== 'at').map(({ jobId }) => jobId));
  return occurrences.filter(
    ({ job_id, trigger, status }) =>
      steady.has(job_id) && lasting.has(job_id) && trigger === 'schedule' && status === 'ok',
  );
}

/** Runs one after the other of one job. */
function someNeighbours({ runs }: CronEvidence, random: Random): [SimRun, SimRun] {
  const ofJob = random.pick([...runsByJob(runs).values()].filter(({ length }) => length > 2));
  const index = random.int(1, ofJob.length - 1);
  const [before, run] = [ofJob[index - 1], ofJob[index]];
  if (!before || !run) throw new Error('the story is too short');
  return [before, run];
}

/** A start that stands nowhere else. */
function startAgain({ runs, attempts }: CronEvidence, run: SimRun, more: Partial<SimRun>): void {
  const again = { ...run, runId: `${run.runId}-again`, ...more };
  runs.push(again);
  const row = attempts.find(({ run_id }) => run_id === run.runId);
  if (row) attempts.push({ ...row, run_id: again.runId, attempt: again.attempt });
}

export const CRON_DEFECTS: CronDefect[] = [
  {
    name: 'a record is lost',
    rule: 'what was due has a record',
    apply(evidence, random) {
      const row = random.pick(plainRows(evidence));
      evidence.occurrences.splice(evidence.occurrences.indexOf(row), 1);
    },
  },
  {
    name: 'a record reaches over the next',
    rule: 'no instant has two records',
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
    name: 'a record stands beside its instant',
    rule: 'a record stands at an instant of its job',
    apply(evidence, random) {
      random.pick(plainRows(evidence)).scheduled_ms += 1;
    },
  },
  {
    name: 'an occurrence is left open',
    rule: 'what was due is over',
    apply: ({ occurrences }, random) =>
      void Object.assign(random.pick(occurrences), { status: 'started', ended_ms: null }),
  },
  {
    name: 'nobody says why it did not run',
    rule: 'what did not run says why',
    apply({ occurrences }, random) {
      random.pick(occurrences.filter(({ status }) => status === 'missed' || status === 'skipped')).error = null;
    },
  },
  {
    name: 'what was in time is called missed',
    rule: 'what did not run says why',
    apply({ occurrences }, random) {
      const last = [...Map.groupBy(occurrences, ({ job_id }) => job_id).values()].flatMap((rows) => rows.slice(-1));
      const row = random.pick(last.filter(({ trigger, status }) => trigger === 'schedule' && status === 'ok'));
      Object.assign(row, { status: 'missed', error: 'no slot was free in time', ended_ms: row.scheduled_ms });
    },
  },
  {
    name: 'an attempt starts twice',
    rule: 'an attempt starts once',
    apply: (evidence, random) => startAgain(evidence, someNeighbours(evidence, random)[1], {}),
  },
  {
    name: 'a start is not recorded',
    rule: 'every start is on record',
    apply: ({ attempts }, random) => void attempts.splice(random.int(0, attempts.length - 1), 1),
  },
  {
    name: 'what went well is done again',
    rule: 'only an error is tried again',
    apply(evidence, random) {
      const run = random.pick(evidence.runs.filter(({ outcome, endMs }) => outcome === 'ok' && endMs !== undefined));
      startAgain(evidence, run, { attempt: run.attempt + 1, startMs: run.endMs, endMs: run.endMs });
    },
  },
  {
    name: 'a job runs twice at a time',
    rule: 'a job runs once at a time',
    apply(evidence, random) {
      const [before, run] = someNeighbours(evidence, random);
      before.endMs = (run.startMs ?? 0) + 1;
    },
  },
  {
    name: 'starts are late',
    rule: 'what can start starts within a minute',
    apply({ runs }, random) {
      for (const run of runs) if (random.chance(0.2) && run.startMs !== undefined) run.startMs += 120_000;
    },
  },
  {
    name: 'it starts before it is due',
    rule: 'what can start starts within a minute',
    apply({ runs }, random) {
      const run = random.pick(runs.filter(({ trigger, attempt }) => trigger === 'schedule' && attempt === 1));
      run.scheduledMs += 1_000 * DAY_MS;
    },
  },
  {
    name: 'a record says that it went wrong',
    rule: 'a record ends as the run did',
    apply: ({ occurrences }, random) =>
      void Object.assign(random.pick(occurrences.filter(({ status }) => status === 'ok')), {
        status: 'error',
        error: 'no luck',
      }),
  },
  {
    name: 'a job remembers another end',
    rule: 'a job says what its ledger says',
    apply({ jobs }, random) {
      const job = random.pick(jobs.filter(({ last_json }) => last_json !== null));
      job.last_json = JSON.stringify({ ...JSON.parse(job.last_json ?? ''), status: 'interrupted' });
    },
  },
  {
    name: 'a job that is over is enabled',
    rule: 'a job says what its ledger says',
    apply({ jobs }, random) {
      const over = jobs.filter(({ definition_json }) => JSON.parse(definition_json).schedule.kind === 'at');
      Object.assign(random.pick(over), { enabled: 1, next_ms: null });
    },
  },
  {
    name: 'a job passes over its next instant',
    rule: 'a job says what its ledger says',
    apply({ jobs }, random) {
      random.pick(jobs.filter(({ enabled, next_ms }) => enabled === 1 && next_ms !== null)).next_ms = 1;
    },
  },
];
