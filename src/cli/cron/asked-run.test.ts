import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { CronOccurrence } from '../../../protocol/cron.ts';
import type { Result } from '../../../protocol/index.ts';
import { hasFailed, runAsked, toOutcome } from './asked-run.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const here = { nowMs: NOW, tz: 'Europe/Berlin' };
const row = (scheduledAtMs: number, more: Partial<CronOccurrence> = {}): CronOccurrence => ({
  ...{ jobId: 'j1', action: 'finished', status: 'ok', scheduledAtMs, trigger: 'schedule', attempts: 1 },
  ...more,
});
const forced = { trigger: 'forced' } as const;
const failed = { status: 'error', error: 'no model' } as const;
const retrying = { status: undefined, error: 'no model', retryAtMs: NOW + 30_000 } as const;

interface Stored {
  before?: CronOccurrence[];
  after?: CronOccurrence[];
  answer?: Result<'cron.run'>;
  mode?: 'due' | 'force';
  wait?: boolean;
}

/** Triggers a run between two states of the history. */
async function ask({ before = [], after = [], answer = { ok: true, ran: true }, mode = 'force', wait = true }: Stored) {
  let history = before;
  const call = async (method: string) => {
    if (method === 'cron.runs') return { entries: history };
    history = after;
    return answer;
  };
  const client = { call: call as GatewayClient['call'] }; // only two methods are called
  const asked = await runAsked(client, { id: 'j1', mode, wait });
  const told = toOutcome(asked, { waited: wait, here }).split('\n');
  return { at: asked.run?.scheduledAtMs, told, failed: hasFailed(asked, { waited: wait }) };
}

test('the outcome is that of the started run, not of an earlier one', async () => {
  const before = [row(1, forced)];
  const after = [...before, row(2, failed)];
  assert.deepEqual(await ask({ before, after, mode: 'due' }), { at: 2, told: ['error: no model'], failed: true });
  assert.deepEqual(await ask({ before, after: [...before, row(3, forced)] }), { at: 3, told: ['ok'], failed: false });
});

test('a failed attempt is a failure, and the time of the next one is shown', async () => {
  const told = ['error: no model', 'Next attempt: Fri 2026-11-20 13:00:30 (in 30 s).'];
  assert.deepEqual(await ask({ after: [row(1, retrying)], mode: 'due' }), { at: 1, told, failed: true });
  const again = { before: [row(1, retrying)], after: [row(1, { ...retrying, attempts: 2 })] };
  assert.deepEqual(await ask(again), { at: 1, told, failed: true });
  const under = [row(1, { ...retrying, retryAtMs: undefined, runAtMs: NOW })];
  assert.deepEqual((await ask({ after: under, mode: 'due' })).told, ['error: no model', 'A retry is running.']);
  assert.equal((await ask({ ...again, after: [row(1, { attempts: 2 })] })).failed, false);
});

test('a scheduled run meanwhile is not mistaken for the forced one', async () => {
  const ended = row(1, { ...failed, error: 'The job was changed before the retry' });
  const others = [ended, row(2, failed), row(3, forced), row(4, failed)];
  assert.equal((await ask({ before: [row(1, retrying)], after: others })).at, 3);
  const missed = row(2, { status: 'missed', attempts: 0, count: 5 });
  assert.equal((await ask({ after: [missed, row(7), row(8)], mode: 'due' })).at, 7);
});

test('a run that was skipped in the queue is reported as skipped', async () => {
  const skipped = row(3, { ...forced, status: 'skipped', attempts: 0, error: 'it was removed' });
  const { at, told } = await ask({ after: [row(1, { status: 'missed', attempts: 0 }), skipped] });
  assert.deepEqual([at, told], [3, ['skipped: it was removed']]);
});

test('a job that did not run, and a run without waiting, are reported as such', async () => {
  const none = (reason: 'not-due' | 'already-running') => ask({ answer: { ok: true, ran: false, reason } });
  assert.deepEqual(await none('not-due'), { at: undefined, told: ['It is not due.'], failed: false });
  assert.deepEqual(await none('already-running'), { at: undefined, told: ['It is running already.'], failed: true });
  const after = [row(1, { ...forced, ...failed })];
  assert.deepEqual(await ask({ after, wait: false }), { at: undefined, told: ['Started.'], failed: false });
  assert.deepEqual((await ask({})).told, ['It ran. Find the outcome with: headgate cron runs JOB']);
});
