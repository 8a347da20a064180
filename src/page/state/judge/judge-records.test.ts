import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { JudgeRecords } from './judge-records.ts';

const verdict = (verdictId: string, createdAtMs: number) => ({
  ...{ verdictId, wsId: 'w1', callId: 'c1', tool: 'bash', arguments: '{"command":"rm x"}', summary: 'Deletes x' },
  ...{ riskLevel: 'high', confidence: 0.9, recommendation: 'review', reasoning: 'It deletes.', evidence: ['rm'] },
  ...{ tier: 'heuristic', judgeModel: '', latencyMs: 0, decision: 'denied', createdAtMs },
});

const FINDING = {
  ...{ assessmentId: 'a1', wsId: 'w2', callId: 'c2', tool: 'bash', flags: ['credential_leak'], riskLevel: 'high' },
  ...{ annotations: ['An API key'], outputLength: 30, redacted: true, createdAtMs: 4 },
};

function opened() {
  const fake = createFakeClient();
  return { ...fake, records: new JudgeRecords({ client: fake.client, now: () => 10_000.4 }) };
}

test('verdicts come page by page; later pages end where the first one began', async () => {
  const { records, answer, calls } = opened();
  answer('verdict.list', () => ({ verdicts: [verdict('v3', 3), verdict('v2', 2)], total: 4 }));
  await records.read();
  answer('verdict.list', () => ({ verdicts: [verdict('v2', 2), verdict('v1', 1)], total: 4 }));
  await records.more();
  const { listing, workstreams } = records;
  assert.deepEqual(
    listing.value?.records.map(({ id }) => id),
    ['v3', 'v2', 'v1'],
  );
  assert.deepEqual(workstreams.value, ['w1']);
  assert.deepEqual(calls, [
    ['verdict.list', { limit: 50, offset: 0 }],
    ['verdict.list', { limit: 50, offset: 2, untilMs: 3 }],
  ]);
});

test('a verdict has its decision and its reasons in words', async () => {
  const { records, answer } = opened();
  answer('verdict.list', () => ({ verdicts: [verdict('v1', 1), { ...verdict('v2', 1), decision: 'mode' }], total: 2 }));
  await records.read();
  const [first, second] = records.listing.value?.records ?? [];
  assert.deepEqual(first, {
    ...{ id: 'v1', wsId: 'w1', atMs: 1, risk: 'high', tool: 'bash', title: 'Deletes x', decided: 'denied' },
    details: [
      'It deletes.',
      'rm',
      'Rated by fixed rules, 90 % sure. Advice: look at it closely.',
      '{"command":"rm x"}',
    ],
  });
  assert.equal(second?.decided, 'ran unasked: the mode allows it');
});

test('filters are passed on; a risk that the other list does not know is dropped', async () => {
  const { records, answer, calls } = opened();
  answer('verdict.list', () => ({ verdicts: [], total: 0 }));
  answer('assessment.list', () => ({ assessments: [FINDING], total: 1 }));
  await records.read({ risk: 'critical', withinMs: 1_000, wsId: 'w1' });
  await records.read({ list: 'outputs' });
  assert.deepEqual(records.listing.value?.records, [
    {
      ...{ id: 'a1', wsId: 'w2', atMs: 4, risk: 'high', tool: 'bash', title: 'An API key' },
      ...{ decided: 'secrets were replaced', details: ['credential_leak in an output of 30 characters'] },
    },
  ]);
  await records.read({ risk: 'high' });
  assert.deepEqual(calls, [
    ['verdict.list', { limit: 50, offset: 0, wsId: 'w1', sinceMs: 9_000, riskLevel: 'critical' }],
    ['assessment.list', { limit: 50, offset: 0, wsId: 'w1', sinceMs: 9_000 }],
    ['assessment.list', { limit: 50, offset: 0, wsId: 'w1', sinceMs: 9_000, riskLevel: 'high' }],
  ]);
});
