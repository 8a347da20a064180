import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Verdict } from '../../../protocol/events/verdict.ts';
import type { NewAssessment } from '../../agent/run/recorder.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import { insertAssessments } from '../assessments/assessment-rows.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import { createOldRatings } from './old-ratings.ts';
import { insertVerdicts } from './verdict-rows.ts';

const DAY = 86_400_000;
const never = new AbortController().signal;
const VERDICT: Omit<Verdict, 'verdict_id'> = {
  ...{ call_id: 'c', func_name: 'bash', func_args: '{}', intent_summary: 'It acts.', risk_level: 'low', confidence: 1 },
  ...{ recommendation: 'approve', reasoning: '', evidence: [], tier: 'heuristic', judge_model: '', latency_ms: 0 },
};

async function setUp(retentionDays: number) {
  const clock = fakeClock();
  const log = recordingLog();
  const store = await tempStore({ clock, log });
  const live = { judge: { retentionDays } };
  return { store, clock, log, ratings: createOldRatings({ store, live, clock, log }) };
}

/** Stores a verdict and a finding; `auto`: why nobody was asked, otherwise the question is open. */
function rate(store: SqliteStore, id: string, { nowMs, auto }: { nowMs: number; auto?: 'mode' }) {
  const verdict = { ...VERDICT, verdict_id: id };
  const warning: NewAssessment['warning'] = {
    ...{ type: 'output_warning', call_id: 'c', func_name: 'bash', flags: [], risk_level: 'low', annotations: [] },
    ...{ output_length: 1, redacted: false },
  };
  const found = [{ assessmentId: id, warning }];
  const verdicts = insertVerdicts('ws', [{ verdict, ...(auto && { auto }) }], nowMs);
  return store.commit({ statements: [...verdicts, ...insertAssessments('ws', found, nowMs)] });
}

async function leftIn({ db }: SqliteStore) {
  const verdicts = await db.selectFrom('verdicts').select('verdict_id').orderBy('verdict_id').execute();
  const findings = await db.selectFrom('output_assessments').select('assessment_id').orderBy('assessment_id').execute();
  return {
    verdicts: verdicts.map(({ verdict_id }) => verdict_id),
    findings: findings.map(({ assessment_id }) => assessment_id),
  };
}

test('verdicts and findings older than the configured days are removed, except for verdicts about open questions', async () => {
  const { store, clock, ratings } = await setUp(3);
  await using _ = store;
  const nowMs = clock.now();
  for (let n = 0; n < 1_100; n += 1) await rate(store, `old${n}`, { nowMs, auto: 'mode' });
  await rate(store, 'open', { nowMs });
  await rate(store, 'young', { nowMs: nowMs + 1.5 * DAY, auto: 'mode' });
  await clock.advance(4 * DAY);
  await ratings.sweep(never);
  assert.deepEqual(await leftIn(store), { verdicts: ['open', 'young'], findings: ['young'] });
});

test('with 0 days, nothing is removed', async () => {
  const { store, clock, ratings } = await setUp(0);
  await using _ = store;
  await rate(store, 'old', { nowMs: clock.now(), auto: 'mode' });
  await clock.advance(10_000 * DAY);
  await ratings.sweep(never);
  assert.deepEqual(await leftIn(store), { verdicts: ['old'], findings: ['old'] });
});

test('a removal that fails is reported, and tried again the next day', async () => {
  const { store, clock, log } = await setUp(3);
  await using _ = store;
  await rate(store, 'old', { nowMs: clock.now(), auto: 'mode' });
  let isBroken = true;
  const failing: Pick<SqliteStore, 'db' | 'commit'> = {
    db: store.db,
    commit: (unit) => (isBroken ? Promise.reject(new Error('broken')) : store.commit(unit)),
  };
  const stop = new AbortController();
  const live = { judge: { retentionDays: 1 } };
  const running = createOldRatings({ store: failing, live, clock, log }).run(stop.signal);
  await clock.advance(3 * DAY);
  assert.deepEqual((await leftIn(store)).verdicts, ['old']);
  assert.ok(log.lines.some(([level]) => level === 'warn'));
  isBroken = false;
  await clock.advance(2 * DAY);
  stop.abort();
  await running;
  assert.deepEqual((await leftIn(store)).verdicts, []);
});
