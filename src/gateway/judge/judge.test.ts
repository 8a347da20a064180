import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../agent/providers/model.ts';
import { LIVE } from '../testing/default-deps.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const judge = { ...LIVE.judge, enabled: true, usesModel: true, timeoutMs: 30_000 };
const live = { ...LIVE, judge };

/** Starts a run that asks about its calls; returns where, and the question. */
async function openQuestion(gateway: WholeGateway) {
  const { wsId } = await gateway.call('workstream.create', {});
  await gateway.call('workstream.send', { wsId, message: 'go' });
  await gateway.reaches(wsId, 'approve_request');
  const { approvals } = await gateway.call('approval.list', { wsId });
  return { wsId, approvalId: approvals[0]?.approvalId ?? assert.fail('nothing waits') };
}

const statesOf = async (gateway: WholeGateway, wsId: string) =>
  (await gateway.events(wsId)).flatMap((event) => (event.type === 'judge_state' ? [[event.state, event.reason]] : []));

/** The verdicts in the database, by tier. */
async function storedOf(gateway: WholeGateway, wsId: string) {
  const { verdicts } = await gateway.call('verdict.list', { wsId, limit: 500 });
  return verdicts.map(({ tier, decision }) => `${tier} ${decision}`).sort();
}

const VERDICT = JSON.stringify({
  ...{ intent_summary: 'Touches it.', risk_level: 'low', confidence: 0.9, recommendation: 'approve' },
});

test('a judge that does not answer in time is told as such, and the question still waits', async () => {
  await using gateway = await wholeGateway({ live });
  gateway.puppet.turn(calling('touch', { text: 'it' }));
  gateway.puppet.turn(never());
  const { wsId, approvalId } = await openQuestion(gateway);
  await turnsUntil(() => gateway.puppet.requests.length === 2, 'the judge is asked');
  await gateway.clock.advance(30_000);
  await gateway.reaches(wsId, 'judge_state');
  assert.deepEqual(await statesOf(gateway, wsId), [['timeout', 'The judge gave no verdict within 30 s.']]);
  const { approvals } = await gateway.call('approval.list', { wsId });
  assert.deepEqual(
    approvals.map((approval) => approval.approvalId),
    [approvalId],
  );
  assert.deepEqual(await storedOf(gateway, wsId), ['heuristic pending']);
});

test('an endless answer ends with the time of the judge', async () => {
  await using gateway = await wholeGateway({ live });
  gateway.puppet.turn(calling('touch', { text: 'it' }));
  gateway.puppet.turn(...Array.from({ length: 1_000 }, () => 'and '.repeat(100)), never());
  const { wsId } = await openQuestion(gateway);
  await turnsUntil(() => gateway.puppet.requests.length === 2, 'the judge is asked');
  await gateway.clock.advance(30_000);
  await gateway.reaches(wsId, 'judge_state');
  assert.equal((await statesOf(gateway, wsId))[0]?.[0], 'timeout');
});

for (const [name, move, reason] of [
  ['that fails', new ProviderError('unreachable', 'The model is away.'), 'The model is away.'],
  ['with an internal error', new Error('token=hunter2'), 'The judge failed.'],
  ['without a verdict', 'I approve everything.', 'The answer of the judge has no verdict.'],
] as const)
  test(`a judge ${name} is unavailable, and nothing is decided or stored`, async () => {
    await using gateway = await wholeGateway({ live });
    gateway.puppet.turn(calling('touch', { text: 'it' }));
    gateway.puppet.turn(move);
    const { wsId } = await openQuestion(gateway);
    await gateway.reaches(wsId, 'judge_state');
    assert.deepEqual(await statesOf(gateway, wsId), [['unavailable', reason]]);
    assert.deepEqual(await storedOf(gateway, wsId), ['heuristic pending']);
  });

test('of 100 calls, 32 are judged, and the others are told as unavailable', async () => {
  await using gateway = await wholeGateway({ live });
  gateway.puppet.turn(...Array.from({ length: 100 }, (_, n) => calling('touch', { text: `${n}` }, `call_${n}`)));
  for (let n = 0; n < 32; n += 1) gateway.puppet.turn(VERDICT);
  const { wsId } = await openQuestion(gateway);
  await gateway.reaches(wsId, 'intent_verdict', 32);
  await gateway.reaches(wsId, 'judge_state', 68);
  const stored = await storedOf(gateway, wsId);
  assert.deepEqual([stored.length, stored.filter((one) => one === 'llm pending').length], [132, 32]);
});

test('who lists a question later finds what the model has said about it, as the event had it', async () => {
  await using gateway = await wholeGateway({ live });
  gateway.puppet.turn(calling('touch', { text: 'it' }));
  gateway.puppet.turn(VERDICT);
  const { wsId } = await openQuestion(gateway);
  await gateway.reaches(wsId, 'intent_verdict');
  const told = (await gateway.events(wsId)).flatMap((event) => {
    if (event.type !== 'intent_verdict') return [];
    const { type: _, ...verdict } = event;
    return [verdict];
  });
  const other = await gateway.call('workstream.create', {});
  gateway.puppet.turn(calling('touch', { text: 'more' }));
  gateway.puppet.turn(never());
  await gateway.call('workstream.send', { wsId: other.wsId, message: 'go' });
  await gateway.reaches(other.wsId, 'approve_request');
  const { approvals } = await gateway.call('approval.list', {});
  assert.equal(told[0]?.intent_summary, 'Touches it.');
  assert.deepEqual(
    approvals.map((approval) => [approval.wsId, approval.modelVerdicts]),
    [
      [wsId, told],
      [other.wsId, undefined],
    ],
  );
});

test('a judge with a provider of its own is asked there, unless the workstream names its judge', async () => {
  const own = { provider: 'openai-compatible', model: 'tiny', baseUrl: 'http://h/v1' } as const;
  await using gateway = await wholeGateway({ live: { ...LIVE, judge: { ...judge, model: 'tiny', own } } });
  for (const [params, asked] of [
    [{}, 'own/tiny'],
    [{ judgeModel: 'other' }, 'other'],
  ] as const) {
    const { wsId } = await gateway.call('workstream.create', params);
    gateway.puppet.turn(calling('touch', { text: 'it' }));
    gateway.puppet.turn(VERDICT);
    await gateway.call('workstream.send', { wsId, message: 'go' });
    await gateway.reaches(wsId, 'intent_verdict');
    const { verdicts } = await gateway.call('verdict.list', { wsId });
    assert.deepEqual(
      verdicts.flatMap(({ tier, judgeModel }) => (tier === 'llm' ? judgeModel : [])),
      [asked],
    );
  }
});

test('a judge that has used its tokens for a question is unavailable for the calls that are left', async () => {
  await using gateway = await wholeGateway({ live: { ...LIVE, judge: { ...judge, tokensPerQuestion: 1 } } });
  const calls = Array.from({ length: 6 }, (_, n) => calling('touch', { text: `${n}` }, `call_${n}`));
  gateway.puppet.turn(...calls);
  for (let n = 0; n < 4; n += 1) gateway.puppet.turn(VERDICT);
  const { wsId } = await openQuestion(gateway);
  await gateway.reaches(wsId, 'intent_verdict', 4); // four are judged at once
  await gateway.reaches(wsId, 'judge_state', 2);
  const reason = 'The judge has used up what it may use for one question (1 tokens).';
  assert.deepEqual(await statesOf(gateway, wsId), Array(2).fill(['unavailable', reason]));
});

test('a cancel ends the judging without a word', async () => {
  await using gateway = await wholeGateway({ live });
  gateway.puppet.turn(calling('touch', { text: 'it' }));
  gateway.puppet.turn(never());
  const { wsId } = await openQuestion(gateway);
  await turnsUntil(() => gateway.puppet.requests.length === 2, 'the judge is asked');
  await gateway.call('workstream.cancel', { wsId });
  await gateway.isIdle(wsId);
  await gateway.clock.advance(60_000);
  assert.deepEqual([await statesOf(gateway, wsId), await storedOf(gateway, wsId)], [[], ['heuristic cancelled']]);
});

test('a call that is denied alone is stored as denied, also with a later verdict', async () => {
  await using gateway = await wholeGateway({ live });
  gateway.puppet.turn(calling('touch', { text: '1' }, 'one'), calling('touch', { text: '2' }, 'two'));
  const late = Promise.withResolvers<void>();
  gateway.puppet.turn(VERDICT);
  gateway.puppet.turn(late.promise, VERDICT);
  const { wsId, approvalId } = await openQuestion(gateway);
  await gateway.reaches(wsId, 'intent_verdict');
  const { approvals } = await gateway.call('approval.list', { wsId });
  const [, second] = approvals[0]?.items.map(({ call_id }) => call_id) ?? [];
  await gateway.call('approval.resolve', {
    ...{ approvalId, approved: true },
    decisions: { [second ?? '']: { approved: false } },
  });
  late.resolve();
  await gateway.reaches(wsId, 'intent_verdict', 2);
  const { verdicts } = await gateway.call('verdict.list', { wsId });
  const denied = verdicts.flatMap(({ callId, decision }) => (decision === 'denied' ? [callId] : []));
  assert.deepEqual(
    [verdicts.length, verdicts.filter(({ decision }) => decision === 'approved').length, denied],
    [4, 2, [second, second]],
  );
});

test('a question that expires is stored as such with its verdicts', async () => {
  await using gateway = await wholeGateway({ live });
  gateway.puppet.turn(calling('touch', { text: 'it' }));
  gateway.puppet.turn(VERDICT);
  const { wsId } = await openQuestion(gateway);
  await gateway.reaches(wsId, 'intent_verdict');
  await gateway.clock.advance(live.approvalMs);
  await gateway.isIdle(wsId);
  assert.deepEqual(await storedOf(gateway, wsId), ['heuristic timeout', 'llm timeout']);
});

test('verdicts go with their workstream, and secrets in arguments are in no log', async () => {
  await using gateway = await wholeGateway({ live });
  gateway.puppet.turn(calling('touch', { text: 'sk-proj-abcdefgh12345678' }));
  gateway.puppet.turn('no verdict about sk-proj-abcdefgh12345678');
  const { wsId, approvalId } = await openQuestion(gateway);
  await gateway.reaches(wsId, 'judge_state');
  assert.doesNotMatch(JSON.stringify(gateway.log.lines), /abcdefgh12345678/);
  assert.doesNotMatch(JSON.stringify(gateway.puppet.requests[1]), /abcdefgh12345678/);
  await gateway.call('approval.resolve', { approvalId, approved: false });
  await gateway.isIdle(wsId);
  await gateway.call('workstream.delete', { wsId });
  const rows = await gateway.store.db.selectFrom('verdicts').select('verdict_id').execute();
  assert.deepEqual(rows, []);
});

test('an hour without a judge: every call is asked about, none runs by itself, and no run hangs', async () => {
  await using gateway = await wholeGateway({ live });
  const { wsId } = await gateway.call('workstream.create', {});
  for (let round = 0; round < 12; round += 1) {
    gateway.puppet.turn(calling('touch', { text: `${round}` }));
    gateway.puppet.turn(new ProviderError('unreachable', 'The model is away.'));
    await gateway.call('workstream.send', { wsId, message: 'go' });
    await gateway.reaches(wsId, 'judge_state', round + 1);
    const { approvals } = await gateway.call('approval.list', { wsId });
    await gateway.call('approval.resolve', { approvalId: approvals[0]?.approvalId ?? '', approved: false });
    await gateway.isIdle(wsId);
    await gateway.clock.advance(300_000);
  }
  const ran = (await gateway.events(wsId)).flatMap((event) => (event.type === 'tool_result' ? [event.outcome] : []));
  assert.deepEqual([ran.length, new Set(ran)], [12, new Set(['denied'])]);
});
