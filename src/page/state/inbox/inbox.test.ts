import assert from 'node:assert/strict';
import { test } from 'node:test';
import { item } from '../conversation/conversation-fixture.ts';
import { withModelVerdicts } from '../conversation/late-verdicts.ts';
import { createFakeClient } from '../fake-client.ts';
import { Inbox } from './inbox.ts';

const asked = (approvalId: string, askedAtMs = 1) => ({
  ...requested(approvalId),
  askedAtMs,
});

const VERDICT = {
  ...{ verdict_id: 'v1', func_name: 'bash', intent_summary: 'Deletes a.', risk_level: 'low', confidence: 0.9 },
  ...{ recommendation: 'approve', reasoning: 'It is a copy.', evidence: [], tier: 'llm', judge_model: 'gpt' },
  latency_ms: 1,
};

const requested = (approvalId: string) => ({
  approvalId,
  wsId: `ws-${approvalId}`,
  sessionKey: approvalId,
  kind: 'tools' as const,
  items: [item('c1')],
  expiresAtMs: 60_000,
});

function openInbox({ mayDecide = true } = {}) {
  const fake = createFakeClient();
  const inbox = new Inbox({ client: fake.client, now: () => 9, mayDecide: () => mayDecide });
  const ids = () => inbox.waiting.value?.map(({ approvalId }) => approvalId);
  return { ...fake, inbox, ids };
}

test('questions of all workstreams are listed by their age, and leave when they are decided anywhere', async () => {
  const { inbox, ids, answer, emit, calls } = openInbox();
  answer('approval.list', () => ({ approvals: [asked('b', 2), asked('a', 1)] }));
  await inbox.read();
  emit('approval.requested', requested('c'));
  emit('approval.requested', requested('a')); // a restart asks again
  assert.deepEqual([ids(), inbox.count.value], [['a', 'b', 'c'], 3]);
  assert.deepEqual(
    inbox.waiting.value?.map(({ askedAtMs }) => askedAtMs),
    [1, 2, 9],
  );
  emit('approval.resolved', { approvalId: 'a', wsId: 'ws-a', sessionKey: 'a', approved: true });
  answer('approval.resolve', () => ({ status: 'ok' }));
  assert.equal(await inbox.decide('b', { approved: false, feedback: 'no' }), undefined);
  assert.deepEqual(ids(), ['c']);
  assert.deepEqual(calls.at(-1), ['approval.resolve', { approvalId: 'b', approved: false, feedback: 'no' }]);
});

test('what the model has said about a question stays when it is asked again', async () => {
  const { inbox, answer, emit } = openInbox();
  const modelVerdicts = [{ ...VERDICT, call_id: 'c1' }];
  answer('approval.list', () => ({ approvals: [{ ...asked('a'), modelVerdicts }] }));
  await inbox.read();
  emit('approval.requested', requested('a'));
  const [waiting] = inbox.waiting.value ?? [];
  assert.deepEqual(
    withModelVerdicts(waiting?.items ?? [], waiting?.modelVerdicts).map(({ verdict }) => verdict?.reasoning),
    ['It is a copy.'],
  );
});

test('a list that is older than a decision does not bring the question back', async () => {
  const { inbox, ids, answer, emit } = openInbox();
  const listed = Promise.withResolvers<unknown>();
  answer('approval.list', () => listed.promise);
  const reading = inbox.read();
  emit('approval.resolved', { approvalId: 'a', wsId: 'ws-a', sessionKey: 'a', approved: true });
  listed.resolve({ approvals: [asked('a'), asked('b')] });
  await reading;
  assert.deepEqual(ids(), ['b']);
});

test('a list that is older than a question does not take it away', async () => {
  const { inbox, ids, answer, emit } = openInbox();
  answer('approval.list', () => ({ approvals: [] }));
  await inbox.read();
  const listed = Promise.withResolvers<unknown>();
  answer('approval.list', () => listed.promise);
  const reading = inbox.read();
  emit('approval.requested', requested('a'));
  emit('approval.requested', requested('b'));
  emit('approval.resolved', { approvalId: 'b', wsId: 'ws-b', sessionKey: 'b', approved: true });
  listed.resolve({ approvals: [asked('c')] });
  await reading;
  assert.deepEqual([ids(), inbox.count.value], [['c', 'a'], 2]);
});

test('a refused decision is told, and the question stays', async () => {
  const { inbox, ids, answer } = openInbox();
  answer('approval.list', () => ({ approvals: [asked('a')] }));
  await inbox.read();
  answer('approval.resolve', () => {
    throw new Error('refused');
  });
  assert.match((await inbox.decide('a', { approved: true })) ?? '', /refused/);
  assert.deepEqual(ids(), ['a']);
});

test('nothing is read for a person who does not decide', async () => {
  const { inbox, calls } = openInbox({ mayDecide: false });
  await inbox.read();
  assert.deepEqual([calls, inbox.count.value], [[], 0]);
});
