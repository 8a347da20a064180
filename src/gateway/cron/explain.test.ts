import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newJob } from '../../cron/jobs/define-job.ts';
import type { Job } from '../../cron/jobs/job.ts';
import type { CronOccurrenceTable } from '../store/schema/cron-schema.ts';
import { type Explained, explain, explainIdle } from './explain.ts';

const MADE = Date.UTC(2026, 10, 1);
const NOW = MADE + 3_600_000;
const MINUTE_MS = 60_000;

function jobOf(changes: Partial<Job> = {}, schedule: Job['schedule'] = { kind: 'every', everyMs: MINUTE_MS }): Job {
  const asked = {
    schedule,
    sessionTarget: 'main',
    wakeMode: 'now',
    payload: { kind: 'systemEvent', text: 'x' },
  } as const;
  return { ...newJob(asked, { id: 'j', nowMs: MADE, hostTimeZone: 'UTC' }), ...changes };
}

const rowOf = (changes: Partial<CronOccurrenceTable>): CronOccurrenceTable => ({
  ...{ job_id: 'j', scheduled_ms: NOW - MINUTE_MS, through_ms: NOW - MINUTE_MS, count: 1, trigger: 'schedule' },
  ...{ status: 'ok', owner: null, epoch: 1, lease_ms: null, attempts: 1, retry_ms: null, run_id: null },
  ...{ session_key: null, started_ms: null, ended_ms: NOW, error: null, summary: null, next_run_ms: null },
  ...{ spent_ms: 0, duration_ms: null, removed_job_json: null, machine: null },
  ...changes,
});

function told(asked: Partial<Explained>): string {
  const usual = { job: jobOf(), row: undefined, nowMs: NOW, atMs: NOW, isRunning: false, switchedOffBy: [] };
  const { verdict, because } = explain({ ...usual, keptSinceMs: 0, ...asked });
  return `${verdict}: ${because}`;
}

test('a recorded instant is explained by its record', () => {
  const atMs = NOW - MINUTE_MS;
  const of = (changes: Partial<CronOccurrenceTable>) => told({ atMs, row: rowOf(changes) });
  assert.equal(of({}), 'ok: It ran.');
  assert.equal(of({ trigger: 'forced', attempts: 2 }), 'ok: It ran, because a caller requested it after 2 attempts.');
  assert.equal(of({ status: 'retrying', error: 'no model' }), 'retrying: It failed and will be retried: no model');
  assert.equal(of({ status: 'skipped', error: 'left alone' }), 'skipped: Left alone.');
});

test('a record of several instants covers them, but not the times between', () => {
  const row = rowOf({
    scheduled_ms: MADE + MINUTE_MS,
    through_ms: NOW,
    count: 60,
    status: 'missed',
    error: 'it was off',
  });
  assert.equal(told({ row, atMs: MADE + 5 * MINUTE_MS }), 'missed: It was off (one of 60 that passed together).');
  assert.equal(
    told({ row, atMs: MADE + 5 * MINUTE_MS + 1 }),
    'not-scheduled: The schedule has no occurrence at that time.',
  );
});

test('an instant whose record has expired does not count as due', () => {
  const handled = jobOf({ handledMs: NOW });
  assert.match(told({ job: handled, atMs: NOW - MINUTE_MS }), /^unknown: The records of that time have expired/);
  assert.match(told({ job: jobOf({ handledMs: NOW - MINUTE_MS }), atMs: NOW }), /^due: It has been due for 0 s/);
  const once = jobOf({ handledMs: 1_000, enabled: false }, { kind: 'at', atMs: 1_000 });
  assert.match(told({ job: once, atMs: 1_000 }), /^unknown: The records of that time have expired/);
});

test('an overdue job that was just created is due, however old its time', () => {
  assert.match(told({ job: jobOf({}, { kind: 'at', atMs: 1_000 }), atMs: 1_000, keptSinceMs: MADE }), /^due: /);
});

test('for times before the last change the explanation is unknown', () => {
  const changed = { sinceMs: NOW - 10 * MINUTE_MS };
  const atMs = NOW - 20 * MINUTE_MS;
  assert.match(told({ job: jobOf(changed), atMs }), /^unknown: There is no record, because the job was enabled/);
  assert.match(
    told({ job: jobOf({ ...changed, enabled: false }), atMs }),
    /^unknown: There is no record, because the job was disabled/,
  );
  assert.match(
    told({ job: jobOf(changed), atMs, keptSinceMs: NOW }),
    /^unknown: The records of that time have expired/,
  );
  assert.match(told({ job: jobOf(changed), atMs: atMs + 1 }), /^not-scheduled: The current schedule of the job/);
  assert.equal(told({ atMs: MADE }), 'unknown: The job was created later.');
});

test('a future instant is explained by whether it will run', () => {
  const atMs = NOW + MINUTE_MS;
  assert.equal(told({ atMs }), 'scheduled: It will run at that time.');
  assert.match(told({ atMs, job: jobOf({ failures: 3, holdMs: atMs + 1 }) }), /^skipped: .* 3 errors in a row/);
  assert.equal(told({ atMs, job: jobOf({ enabled: false }) }), 'disabled: The job is disabled.');
  assert.equal(
    told({ atMs, switchedOffBy: ['HEADGATE_SKIP_CRON'] }),
    'disabled: Schedules are switched off here (HEADGATE_SKIP_CRON): nothing runs automatically.',
  );
});

test('a job without a next instant is explained', () => {
  assert.equal(explainIdle({ enabled: false }).verdict, 'disabled');
  assert.equal(explainIdle({ enabled: true }).verdict, 'not-scheduled');
});
