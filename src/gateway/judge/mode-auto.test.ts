import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { testGuard } from '../../agent/guard/guard-fixture.ts';
import { ProviderError } from '../../agent/providers/model.ts';
import { createToolbox } from '../../agent/tools/toolbox.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { Unit } from '../store/store.ts';
import { LIVE } from '../testing/default-deps.ts';
import { calling, type Move, never } from '../testing/puppet-model.ts';
import { turnsUntil, type WholeGateway, type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';

/** A tool that asks, and whose calls the rules of the judge approve. */
const toolbox = createToolbox(
  [
    {
      name: 'read_file',
      description: 'Reads.',
      parameters: z.object({ path: z.string() }),
      readOnly: false,
      safeToRepeat: false,
      prepare: async ({ path }) => ({
        ...{ kind: 'ready', subject: path, preview: '', approvalLabel: 'read_file', needsApproval: true },
        execute: async () => ({ output: `read ${path}`, outcome: 'done' }),
      }),
    },
  ],
  testGuard(),
);
const judge = { ...LIVE.judge, enabled: true, usesModel: true, timeoutMs: 30_000 };
const reading = (path = '/srv/list.txt', id = 'call_1') => calling('read_file', { path }, id);
const verdict = (more: object = {}) =>
  JSON.stringify({
    ...{ intent_summary: 'Reads a list.', risk_level: 'low', confidence: 0.9, recommendation: 'approve' },
    ...more,
  });

/** A run in the mode auto that asks about a call, which the judge answers so. */
async function opened(moves: Move[], options: WholeGatewayOptions & { judge?: Partial<LiveSettings['judge']> } = {}) {
  const { judge: settings, ...rest } = options;
  const live = { ...LIVE, judge: { ...judge, ...settings } };
  const gateway = await wholeGateway({ toolbox, live, ...rest });
  const { wsId } = await gateway.call('workstream.create', { mode: 'auto' });
  gateway.puppet.turn(reading());
  gateway.puppet.turn(...moves);
  await gateway.call('workstream.send', { wsId, message: 'go' });
  await gateway.reaches(wsId, 'approve_request');
  const pending = async () => (await gateway.call('approval.list', { wsId })).approvals;
  const decide = async (approved: boolean) => {
    const [approval] = await pending();
    return gateway.call('approval.resolve', { approvalId: approval?.approvalId ?? '', approved });
  };
  return Object.assign(gateway, { wsId, live, pending, decide });
}

/** How questions ended, by whom, and how the calls did. */
async function endOf(gateway: WholeGateway, wsId: string) {
  const events = await gateway.events(wsId);
  return {
    decided: events.flatMap((event) =>
      event.type === 'approval_resolved' ? [`${event.by.kind} ${event.approved}`] : [],
    ),
    results: events.flatMap((event) => (event.type === 'tool_result' ? [event.outcome] : [])),
  };
}

async function verdictsOf(gateway: WholeGateway, wsId: string) {
  const { verdicts } = await gateway.call('verdict.list', { wsId, limit: 500 });
  return verdicts.map(({ tier, decision }) => `${tier} ${decision}`).sort();
}

const APPROVED = { decided: ['judge true'], results: ['done'] };
const isDecision = ({ statements = [] }: Unit) =>
  statements.some(({ parameters }) => parameters.includes('approval_decided'));

test('in the mode auto, the verdict of a model answers the question, and everything that is stored says so', async () => {
  await using gateway = await opened([verdict()]);
  const { wsId } = gateway;
  await gateway.isIdle(wsId);
  assert.deepEqual(await endOf(gateway, wsId), APPROVED);
  assert.deepEqual(await verdictsOf(gateway, wsId), ['heuristic smart_approval', 'llm smart_approval']);
  assert.deepEqual(await gateway.pending(), []);
  const { calls } = await gateway.call('policy.simulate', { policies: [] });
  assert.deepEqual(
    calls.map(({ was }) => was),
    ['run'],
  );
});

for (const [name, moves] of Object.entries<Move[]>({
  'just below the threshold': [verdict({ confidence: 0.69 })],
  'that recommends to look': [verdict({ recommendation: 'review' })],
  'that calls the call critical': [verdict({ risk_level: 'critical' })],
  'that says nothing': ['I approve everything.'],
  'that fails': [new ProviderError('unreachable', 'The model is away.')],
}))
  test(`a judge ${name} leaves the question to a person`, async () => {
    await using gateway = await opened(moves);
    const { wsId } = gateway;
    await turnsUntil(
      async () => (await gateway.events(wsId)).some(({ type }) => type === 'intent_verdict' || type === 'judge_state'),
      'the judge is done',
    );
    await gateway.clock.advance(60_000);
    assert.equal((await gateway.pending()).length, 1);
    await gateway.decide(false);
    await gateway.isIdle(wsId);
    assert.deepEqual(await endOf(gateway, wsId), { decided: ['principal false'], results: ['denied'] });
  });

test('an hour without a judge in the mode auto: nothing is approved, and no run hangs', async () => {
  const away = new ProviderError('unreachable', 'The model is away.');
  await using gateway = await opened([away]);
  const { wsId } = gateway;
  for (let round = 1; round <= 12; round += 1) {
    if (round % 2 === 0) {
      await turnsUntil(
        () => gateway.puppet.requests.at(-1)?.system.startsWith('You judge') === true,
        'the judge is asked',
      );
      await gateway.clock.advance(judge.timeoutMs);
    }
    await gateway.reaches(wsId, 'judge_state', round);
    await gateway.clock.advance(270_000);
    assert.equal((await gateway.pending()).length, 1);
    await gateway.decide(false);
    await gateway.isIdle(wsId);
    gateway.puppet.turn(reading(`/srv/${round}.txt`));
    gateway.puppet.turn(round % 2 === 1 ? never() : away);
    await gateway.call('workstream.send', { wsId, message: 'go' });
    await gateway.reaches(wsId, 'approve_request', round + 1);
  }
  await gateway.clock.advance(LIVE.approvalMs);
  await gateway.isIdle(wsId);
  const { decided, results } = await endOf(gateway, wsId);
  assert.deepEqual(decided, [...Array(12).fill('principal false'), 'timeout false']);
  assert.deepEqual(results, [...Array(12).fill('denied'), 'expired']);
});

test('a person who decides first is not overruled by the verdict', async () => {
  const answer = Promise.withResolvers<void>();
  await using gateway = await opened([answer.promise, verdict()]);
  const { wsId } = gateway;
  await gateway.decide(false);
  await gateway.isIdle(wsId);
  answer.resolve();
  await gateway.reaches(wsId, 'intent_verdict');
  assert.deepEqual(await endOf(gateway, wsId), { decided: ['principal false'], results: ['denied'] });
  assert.deepEqual(await verdictsOf(gateway, wsId), ['heuristic denied', 'llm denied']);
});

test('of the judge and a person who decide at the same time, one wins', async () => {
  const winners = new Set<string>();
  for (let delay = 0; delay < 12; delay += 1) {
    const answer = Promise.withResolvers<void>();
    await using gateway = await opened([answer.promise, verdict()]);
    const { wsId } = gateway;
    const [approval] = await gateway.pending();
    const approvalId = approval?.approvalId ?? '';
    answer.resolve();
    for (let turn = 0; turn < delay; turn += 1) await new Promise(setImmediate);
    const won = await gateway.call('approval.resolve', { approvalId, approved: false }).then(
      () => true,
      () => false,
    );
    await gateway.isIdle(wsId);
    assert.deepEqual(
      await endOf(gateway, wsId),
      won ? { decided: ['principal false'], results: ['denied'] } : APPROVED,
    );
    winners.add(won ? 'person' : 'judge');
  }
  assert.equal(winners.size, 2, 'the moments are those at which both can win');
});

test('a verdict that comes after a cancel changes nothing', async () => {
  const answer = Promise.withResolvers<void>();
  await using gateway = await opened([answer.promise, verdict()]);
  const { wsId } = gateway;
  await gateway.call('workstream.cancel', { wsId });
  await gateway.isIdle(wsId);
  answer.resolve();
  await gateway.clock.advance(60_000);
  assert.deepEqual(await endOf(gateway, wsId), { decided: ['cancel false'], results: ['cancelled'] });
});

test('a verdict that comes after the question has expired changes nothing', async () => {
  await using gateway = await opened([never()], { judge: { timeoutMs: 7_200_000 } });
  const { wsId } = gateway;
  await gateway.clock.advance(LIVE.approvalMs);
  await gateway.isIdle(wsId);
  assert.deepEqual(await endOf(gateway, wsId), { decided: ['timeout false'], results: ['expired'] });
});

test('a rule that denies the call while the judge thinks is stronger', async () => {
  const answer = Promise.withResolvers<void>();
  await using gateway = await opened([answer.promise, verdict()]);
  const { wsId } = gateway;
  await gateway.call('rule.create', { action: 'deny', match: { tool: 'read_file' } });
  answer.resolve();
  await gateway.reaches(wsId, 'intent_verdict');
  assert.equal((await gateway.pending()).length, 1);
  await gateway.decide(true);
  await gateway.isIdle(wsId);
  assert.deepEqual(await endOf(gateway, wsId), { decided: ['principal true'], results: ['blocked'] });
});

test('a person who leaves the mode auto while the judge thinks decides', async () => {
  const answer = Promise.withResolvers<void>();
  await using gateway = await opened([answer.promise, verdict()]);
  const { wsId } = gateway;
  await gateway.call('workstream.update', { wsId, mode: 'edits' });
  answer.resolve();
  await gateway.reaches(wsId, 'intent_verdict');
  assert.equal((await gateway.pending()).length, 1);
});

test('a daemon that dies between verdict and decision decides after its start, without asking the model again', async () => {
  await using gateway = await opened([Promise.resolve(), verdict()]);
  const { wsId } = gateway;
  gateway.disk.diesAt = isDecision;
  await gateway.reaches(wsId, 'intent_verdict');
  assert.deepEqual((await endOf(gateway, wsId)).decided, []);
  const asked = gateway.puppet.requests.length;
  await gateway.crash();
  await gateway.isIdle(wsId);
  assert.deepEqual(await endOf(gateway, wsId), APPROVED);
  assert.equal(gateway.puppet.requests.length, asked + 1, 'only the run itself goes on');
});

test('a decision that cannot be stored is tried again, and a person may decide meanwhile', async () => {
  await using gateway = await opened([Promise.resolve(), verdict()]);
  const { wsId } = gateway;
  gateway.disk.fails = isDecision;
  await gateway.reaches(wsId, 'intent_verdict');
  await turnsUntil(() => gateway.log.lines.some(([, text]) => /decision of the judge/.test(String(text))), 'a warning');
  assert.equal((await gateway.pending()).length, 1);
  gateway.disk.fails = undefined;
  await gateway.clock.advance(1_000);
  await gateway.isIdle(wsId);
  assert.deepEqual(await endOf(gateway, wsId), APPROVED);
});

test('without a model, what the rules of the judge approve runs without a question', async () => {
  const live = { ...LIVE, judge: { ...judge, usesModel: false } };
  await using gateway = await wholeGateway({ toolbox, live });
  for (const [mode, types] of [
    ['auto', 0],
    ['edits', 1],
  ] as const) {
    const { wsId } = await gateway.call('workstream.create', { mode });
    gateway.puppet.turn(reading());
    await gateway.call('workstream.send', { wsId, message: 'go' });
    await (types === 0 ? gateway.isIdle(wsId) : gateway.reaches(wsId, 'approve_request'));
    const asked = (await gateway.events(wsId)).filter(({ type }) => type === 'approve_request');
    assert.equal(asked.length, types);
  }
});
