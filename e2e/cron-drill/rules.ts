import type { CronOccurrenceTable } from '../../src/gateway/store/schema/cron-schema.ts';
import { check } from '../checker/check.ts';
import type { Finding, RunOnDisk, Violation } from '../checker/evidence.ts';
import { instantsOf } from './cast.ts';
import type { CronEvidence, PlannedJob } from './evidence.ts';

type CronRule = (evidence: CronEvidence) => Iterable<Finding>;

/** The longest delay of a start after the due time and the readiness of a daemon. */
const LATE_MS = 60_000;
const TERMINAL = ['ok', 'error', 'skipped', 'missed', 'interrupted'];

const CRON_RULES = {
  'every due time has one row': oneRow,
  'a row has one terminal status': oneEnd,
  'an attempt starts once': oneStart,
  'a run belongs to one attempt': oneAttempt,
  'no run starts late': notLate,
  'an occurrence runs its command once': oneEffect,
  'an occurrence is reported to main once': toldOnce,
  'a key runs once': oneRunPerKey,
} as const satisfies Record<string, CronRule>;

/** All violations, of the schedule and of the conversations of its turns. */
export function checkCron(evidence: CronEvidence): Violation[] {
  const { disk, effects, boots } = evidence;
  const own = Object.entries<CronRule>(CRON_RULES).flatMap(([rule, find]) =>
    [...find(evidence)].map((finding) => ({ rule, ...finding })),
  );
  const conversations = check({
    ...{ disk, effects, boots, settled: true },
    ...{ streams: [], sockets: [], calls: [], secrets: [], artefacts: [] },
    memory: { budgetBytes: 0, samples: [] },
  });
  return [...own, ...conversations];
}

/** Each due time before the job's cursor has one row, and there are no other rows. */
function* oneRow({ jobs, ledger }: CronEvidence): Generator<Finding> {
  for (const job of jobs) {
    const rows = rowsOf(job, ledger.occurrences).filter(({ trigger }) => trigger === 'schedule');
    const due = instantsOf(job, endOf(job, rows, ledger.cursors));
    for (const atMs of due) {
      const found = rows.filter((row) => covers(row, atMs)).length;
      if (found !== 1) yield { what: `${found} rows`, where: `${job.id} ${atMs}` };
    }
    for (const row of rows) yield* wrongRange(row, due);
  }
}

const covers = (row: CronOccurrenceTable, atMs: number): boolean => row.scheduled_ms <= atMs && atMs <= row.through_ms;

function* wrongRange(row: CronOccurrenceTable, due: readonly number[]): Generator<Finding> {
  if (!due.includes(row.scheduled_ms)) yield { what: 'a row without a due time', where: placeOf(row) };
  const count = due.filter((atMs) => covers(row, atMs)).length;
  if ((row.count ?? count) !== count) yield { what: `counts ${row.count} of ${count}`, where: placeOf(row) };
}

/** The first due time that may have no row: the next one, or after the last one if no more follow. */
function endOf(job: PlannedJob, rows: CronOccurrenceTable[], cursors: CronEvidence['ledger']['cursors']): number {
  if (job.schedule.kind === 'at') return Number.POSITIVE_INFINITY;
  return cursors[job.id] ?? (rows.at(-1)?.through_ms ?? job.createdMs) + 1;
}

function* oneEnd({ ledger }: CronEvidence): Generator<Finding> {
  for (const row of ledger.occurrences) {
    const isOver = TERMINAL.includes(row.status) && row.ended_ms !== null;
    if (!isOver) yield { what: `is ${row.status}`, where: placeOf(row) };
    if (row.status === 'missed' && row.started_ms !== null)
      yield { what: 'was missed, but has started', where: placeOf(row) };
  }
}

/** Starts are numbered from 1, as many as the row says; an occurrence of a repeating job never starts twice. */
function* oneStart({ jobs, ledger }: CronEvidence): Generator<Finding> {
  const starts = Map.groupBy(ledger.attempts, placeOf);
  const repeats = new Set(jobs.filter(({ schedule }) => schedule.kind !== 'at').map(({ id }) => id));
  for (const row of ledger.occurrences) {
    const numbers = (starts.get(placeOf(row)) ?? []).map(({ attempt }) => attempt).join();
    const expected = Array.from({ length: row.attempts }, (_, index) => index + 1).join();
    if (numbers !== expected) yield { what: `starts ${numbers}, says ${row.attempts}`, where: placeOf(row) };
    if (repeats.has(row.job_id) && row.attempts > 1) yield { what: 'started again', where: placeOf(row) };
    if (row.status === 'ok' && row.attempts === 0) yield { what: 'ok without a start', where: placeOf(row) };
    starts.delete(placeOf(row));
  }
  for (const where of starts.keys()) yield { what: 'a start without an occurrence', where };
}

/** Every run in the session of a job belongs to exactly one attempt, and ended as its row says. */
function* oneAttempt(evidence: CronEvidence): Generator<Finding> {
  const attempts = Map.groupBy(evidence.ledger.attempts, ({ run_id }) => run_id);
  const rows = new Map(evidence.ledger.occurrences.map((row) => [row.run_id, row]));
  const runs = evidence.jobs.flatMap((job) => runsOf(evidence, job).map(({ run }) => run));
  for (const { run_id: runId, status } of runs) {
    const found = attempts.get(runId)?.length ?? 0;
    if (found !== 1) yield { what: `${found} attempts`, where: runId };
    const row = rows.get(runId);
    if (row && (status === 'ok') !== (row.status === 'ok'))
      yield { what: `is ${status}, its occurrence ${row.status}`, where: `${placeOf(row)} ${runId}` };
  }
  const known = new Set(runs.map(({ run_id }) => run_id));
  for (const { run_id: runId, ...start } of evidence.ledger.attempts) {
    if (runId !== null && !known.has(runId)) yield { what: `its run ${runId} does not exist`, where: placeOf(start) };
  }
}

/** Every occurrence is started or given up within a minute after it was due and a daemon was ready. */
function* notLate({ ledger, boots, restMs }: CronEvidence): Generator<Finding> {
  for (const [jobId, nextMs] of Object.entries(ledger.cursors)) {
    if (nextMs !== null && nextMs < restMs - LATE_MS) yield { what: `has been due since ${nextMs}`, where: jobId };
  }
  for (const row of ledger.occurrences) {
    const lateMs = latenessOf(row, boots);
    if (lateMs > LATE_MS) yield { what: `${lateMs} ms late`, where: placeOf(row) };
  }
}

/** The delay after the due time and the readiness of the daemon that handled the occurrence. */
export function latenessOf(row: CronOccurrenceTable, boots: CronEvidence['boots']): number {
  const dealtMs = row.started_ms ?? row.ended_ms ?? Number.POSITIVE_INFINITY;
  const readyMs = boots.findLast((boot) => boot.readyMs !== undefined && boot.readyMs <= dealtMs)?.readyMs ?? 0;
  return dealtMs - Math.max(row.through_ms, readyMs);
}

/** A command begins and ends at most once, and a turn runs one. */
function* oneEffect(evidence: CronEvidence): Generator<Finding> {
  const effects = Map.groupBy(evidence.effects, ({ tag }) => tag);
  for (const [tag, lines] of effects) {
    const phases = lines.map(({ phase }) => phase);
    if (new Set(phases).size < phases.length) yield { what: `wrote ${phases.join(', ')}`, where: tag };
  }
  for (const onDisk of evidence.jobs.flatMap((job) => runsOf(evidence, job))) {
    const tags = [...effects.keys()].filter((tag) => hasCalled(onDisk, tag));
    const where = onDisk.run.run_id;
    if (tags.length > 1) yield { what: `did ${tags.join(' and ')}`, where };
    const isUndisturbed = onDisk.run.status === 'ok' && !sawDeath(onDisk, evidence);
    if (tags.length === 0 && isUndisturbed) yield { what: 'succeeded without running its command', where };
  }
}

/** The effect of a command that was running at a kill is unknown, and the command is not repeated. */
const sawDeath = ({ run }: RunOnDisk, { boots }: CronEvidence): boolean =>
  boots.some(({ diedMs = 0 }) => diedMs >= run.accepted_ms && diedMs <= (run.ended_ms ?? Number.POSITIVE_INFINITY));

const hasCalled = ({ journal }: RunOnDisk, tag: string): boolean =>
  journal.some(({ kind, ...entry }) => kind === 'model_answered' && JSON.stringify(entry).includes(`${tag} began`));

/** The main session gets a line at most as often as its job ran; consecutive repeats count once. */
function* toldOnce({ jobs, ledger, disk }: CronEvidence): Generator<Finding> {
  const main = disk.workstreams.find(({ wsId }) => wsId === ledger.mainWsId);
  const heard = (main?.messages ?? []).flatMap(({ message }) =>
    message.role === 'user' ? message.content.split('\n') : [],
  );
  for (const job of jobs) {
    const { line } = job;
    if (line === undefined) continue;
    const told = heard.filter((text) => text.endsWith(line)).length;
    const ran = rowsOf(job, ledger.occurrences).filter(({ status }) => status === 'ok').length;
    if (told > ran) yield { what: `reported ${told} times, ran ${ran} times`, where: job.id };
  }
}

function* oneRunPerKey({ jobs, ledger }: CronEvidence): Generator<Finding> {
  for (const job of jobs) {
    const ran = rowsOf(job, ledger.occurrences).filter(({ trigger }) => trigger === 'forced').length;
    if (ran !== job.forced) yield { what: `${ran} manual runs, but ${job.forced} were requested`, where: job.id };
  }
}

const rowsOf = ({ id }: PlannedJob, occurrences: CronOccurrenceTable[]): CronOccurrenceTable[] =>
  occurrences.filter(({ job_id }) => job_id === id);

function runsOf({ disk, ledger }: CronEvidence, { id }: PlannedJob): RunOnDisk[] {
  const wsId = ledger.wsIds[`cron:${id}`];
  return disk.workstreams.find((workstream) => workstream.wsId === wsId)?.runs ?? [];
}

const placeOf = ({ job_id, scheduled_ms }: { job_id: string; scheduled_ms: number }): string =>
  `${job_id} ${scheduled_ms}`;
