import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronOccurrenceTable } from '../store/schema/cron-schema.ts';
import { toCronRun, toOccurrence } from './to-wire.ts';

const rowOf = (changes: Partial<CronOccurrenceTable>): CronOccurrenceTable => ({
  ...{ job_id: 'j', scheduled_ms: 1_000, through_ms: 1_000, count: 1, trigger: 'schedule', status: 'ok' },
  ...{ owner: 'me', epoch: 1, lease_ms: null, attempts: 1, retry_ms: null, run_id: null, session_key: null },
  ...{ started_ms: 1_500, ended_ms: 9_000, error: null, summary: null, next_run_ms: null },
  ...{ spent_ms: 0, duration_ms: 2_000, removed_job_json: null, machine: null },
  ...changes,
});

test('an occurrence that waits for a slot has no start time, even after an earlier attempt', () => {
  const claimed = { status: 'claimed', ended_ms: null, duration_ms: null } as const;
  assert.equal(toOccurrence(rowOf({ ...claimed, attempts: 0, started_ms: null })).runAtMs, undefined);
  const { runAtMs, status, attempts } = toOccurrence(rowOf(claimed));
  assert.deepEqual([runAtMs, status, attempts], [undefined, undefined, 1]);
  assert.equal(toOccurrence(rowOf({ ...claimed, status: 'started' })).runAtMs, 1_500);
});

test('the duration is the recorded one, whatever the clock showed at the end', () => {
  const row = rowOf({});
  assert.deepEqual([toCronRun(row).durationMs, toOccurrence(row).durationMs], [2_000, 2_000]);
  assert.equal(toOccurrence(rowOf({ status: 'interrupted', duration_ms: null })).durationMs, undefined);
});
