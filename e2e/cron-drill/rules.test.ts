import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronOccurrenceTable } from '../../src/gateway/store/schema/cron-schema.ts';
import type { CronEvidence } from './evidence.ts';
import { checkCron } from './rules.ts';

const JOB = 'job_1';
const OPENED = 10_500;

const row = (scheduledMs: number, more: Partial<CronOccurrenceTable> = {}): CronOccurrenceTable => ({
  ...{ job_id: JOB, scheduled_ms: scheduledMs, through_ms: scheduledMs, count: 1, trigger: 'schedule', status: 'ok' },
  ...{ owner: 'scheduler_1', epoch: 1, lease_ms: null, attempts: 1, retry_ms: null, run_id: null },
  ...{
    session_key: 'main',
    started_ms: scheduledMs + 4,
    ended_ms: scheduledMs + 5,
    error: null,
    summary: null,
    next_run_ms: null,
    spent_ms: 0,
    duration_ms: null,
    removed_job_json: null,
    machine: null,
  },
  ...more,
});

const NOT_RUN = { status: 'missed', attempts: 0, started_ms: null } as const;

/** A job for each second: it ran, missed three due times without a daemon, ran again, and ran once by hand. */
function evidence(): CronEvidence {
  const occurrences = [
    row(11_000),
    row(12_000, { ...NOT_RUN, through_ms: 14_000, count: 3, ended_ms: 15_100 }),
    row(15_000, { started_ms: 15_100 }),
    row(15_300, { trigger: 'forced' }),
  ];
  return {
    jobs: [
      {
        ...{ id: JOB, schedule: { kind: 'every', everyMs: 1_000, anchorMs: 0 }, createdMs: OPENED },
        ...{ line: '«tick»', forced: 1 },
      },
    ],
    ledger: {
      occurrences,
      attempts: occurrences
        .filter(({ attempts }) => attempts > 0)
        .map(({ job_id, scheduled_ms, started_ms }) => ({
          ...{ job_id, scheduled_ms, attempt: 1, epoch: 1, owner: 'scheduler_1', run_id: null },
          started_ms: started_ms ?? 0,
        })),
      ...{ cursors: { [JOB]: 16_000 }, wsIds: {}, mainWsId: undefined },
    },
    disk: { epoch: 'e', workstreams: [], usage: [], grants: [], memories: [] },
    effects: [],
    boots: [
      { spawnedMs: 9_000, readyMs: 10_000, diedMs: 11_500 },
      { spawnedMs: 14_500, readyMs: 15_050 },
    ],
    restMs: 15_900,
  };
}

test('a job with one row for each due time has no findings', () => {
  assert.deepEqual(checkCron(evidence()), []);
});

const first = ({ ledger }: CronEvidence): CronOccurrenceTable => ledger.occurrences[0] ?? row(0);

const DEFECTS: Record<string, [rule: string, spoil: (evidence: CronEvidence) => void]> = {
  'a due time is lost': ['every due time has one row', ({ ledger }) => void ledger.occurrences.splice(1, 1)],
  'a due time has two rows': [
    'every due time has one row',
    ({ ledger }) => void ledger.occurrences.push(row(13_000, { ...NOT_RUN, ended_ms: 15_100 })),
  ],
  'a row has no due time': [
    'every due time has one row',
    ({ ledger }) => void ledger.occurrences.push(row(11_250, { ...NOT_RUN, ended_ms: 15_100 })),
  ],
  'a row counts too few due times': [
    'every due time has one row',
    ({ ledger }) => Object.assign(ledger.occurrences[1] ?? {}, { count: 2 }),
  ],
  'a row is left open': [
    'a row has one terminal status',
    (evidence) => Object.assign(first(evidence), { status: 'started', ended_ms: null }),
  ],
  'a missed occurrence has started': [
    'a row has one terminal status',
    (evidence) => Object.assign(first(evidence), { status: 'missed' }),
  ],
  'an occurrence starts twice': [
    'an attempt starts once',
    ({ ledger: { attempts } }) => attempts[0] && attempts.push({ ...attempts[0], attempt: 2 }),
  ],
  'a run starts without an occurrence': [
    'an attempt starts once',
    ({ ledger: { attempts } }) => attempts[0] && attempts.push({ ...attempts[0], scheduled_ms: 1 }),
  ],
  'a run was never accepted': [
    'a run belongs to one attempt',
    ({ ledger: { attempts } }) => Object.assign(attempts[0] ?? {}, { run_id: 'run_1' }),
  ],
  'a run starts too late': [
    'no run starts late',
    (evidence) => Object.assign(first(evidence), { started_ms: 71_001 + 4_050 }),
  ],
  'an occurrence waits forever': ['no run starts late', (evidence) => Object.assign(evidence, { restMs: 76_001 })],
  'a command runs twice': [
    'an occurrence runs its command once',
    ({ effects }) => {
      const line = { tag: `${JOB}-1`, phase: 'begin', atMs: 11_010 } as const;
      effects.push({ ...line, start: 'a' }, { ...line, start: 'b' });
    },
  ],
  'main gets more reports than there were runs': [
    'an occurrence is reported to main once',
    ({ ledger, disk }) => {
      const content = Array.from({ length: 4 }, () => 'System: [2026-01-01 00:00 UTC] «tick»').join('\n');
      const messages = [{ seq: 1, runId: null, message: { role: 'user' as const, content } }];
      ledger.mainWsId = 'main';
      disk.workstreams.push({
        ...{ wsId: 'main', name: 'main', messageCount: 1, runEpoch: 1, eventRows: 0, messages },
        ...{ events: [], runs: [], approvals: [], cuts: [], agents: [], watches: [] },
      });
    },
  ],
  'a key has no run': ['a key runs once', ({ jobs }) => Object.assign(jobs[0] ?? {}, { forced: 2 })],
};

for (const [name, [rule, spoil]] of Object.entries(DEFECTS)) {
  test(`found: ${name}`, () => {
    const spoiled = evidence();
    spoil(spoiled);
    const found = checkCron(spoiled).map((violation) => violation.rule);
    assert.ok(found.includes(rule), `found: ${found.join(', ')}`);
  });
}
