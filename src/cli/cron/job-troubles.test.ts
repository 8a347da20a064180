import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronExtendedJob } from '../../../protocol/cron.ts';
import { someJob } from './job-fixture.ts';
import { findTroubles, toTroubleLines } from './job-troubles.ts';

const AT_MS = 5;
const linesOf = (more: Partial<CronExtendedJob>) => toTroubleLines(findTroubles([someJob({ name: 'mail', ...more })]));
const failed = (times: number) => ({
  ...{ lastStatus: 'error' as const, lastError: 'no model', lastScheduledAtMs: AT_MS },
  ...{ consecutiveErrors: times, ...(times > 2 && { alert: true }) },
});
const once = { enabled: false, schedule: { kind: 'at' as const, atMs: AT_MS } };

test('failing jobs are listed, and alerts are marked', () => {
  assert.deepEqual(linesOf({ state: { lastStatus: 'ok' } }), []);
  assert.deepEqual(linesOf({ state: failed(1) }), ['! job "mail" failed: no model']);
  assert.deepEqual(linesOf({ state: failed(3) }), ['! alert: job "mail" failed 3 times in a row: no model']);
  assert.deepEqual(linesOf({ state: { ...failed(3), lastStatus: 'skipped', lastError: 'held' } }).length, 1);
});

test('a finished one-time job is listed if it failed; a job switched off by hand is not', () => {
  const missed = { lastStatus: 'missed' as const, lastError: 'asleep\u202e', lastScheduledAtMs: AT_MS };
  const [line = '', ...more] = linesOf({ ...once, state: missed });
  assert.match(line, /^! job "mail" was missed and will not run: asleep\S+$/);
  assert.deepEqual(more, []);
  assert.equal(linesOf({ ...once, state: failed(5) }).length, 1);
  assert.deepEqual(linesOf({ ...once, state: { lastStatus: 'ok', lastScheduledAtMs: AT_MS } }), []);
  assert.deepEqual(linesOf({ ...once, state: { ...failed(1), lastScheduledAtMs: 1 } }), [], 'off before its time');
  assert.deepEqual(linesOf({ enabled: false, state: failed(3) }), []);
});
