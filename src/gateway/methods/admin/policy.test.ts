import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyAction } from '../../../../protocol/events/policy-actions.ts';
import type { PolicyVerdict, SimulatedPolicy } from '../../../../protocol/methods/admin/policy.ts';
import { calling } from '../../testing/puppet-model.ts';
import { type CallAs, type WholeGateway, wholeGateway } from '../../testing/whole-gateway.ts';

const rule = (toolPattern: string, action: PolicyAction, priority = 0): SimulatedPolicy => ({
  ...{ toolPattern, action, priority, enabled: true },
});
const add = (gateway: WholeGateway, toolPattern: string, action: PolicyAction) =>
  gateway.call('policy.create', { name: `${action} ${toolPattern}`, toolPattern, action });

/** Runs calls of `look` and `touch`; answers a question. Returns the results. */
async function run(gateway: WholeGateway, key: string, approved?: boolean): Promise<string[]> {
  const wsId = await gateway.main();
  gateway.puppet.turn(calling('touch', { text: key }, `t_${key}`), calling('look', {}, `l_${key}`));
  await gateway.call('chat.send', { sessionKey: 'main', message: 'go', idempotencyKey: key });
  if (approved !== undefined) {
    const [approval] = (await waiting(gateway)).approvals;
    await gateway.call('approval.resolve', { approvalId: approval?.approvalId ?? '', approved });
  }
  await gateway.isIdle(wsId);
  const { messages } = await gateway.call('workstream.history', { wsId });
  const results = messages.flatMap(({ role, call_id, outcome }) =>
    role === 'tool' && call_id?.endsWith(`_${key}`) ? [`${call_id} ${outcome}`] : [],
  );
  return results.sort();
}

async function waiting(gateway: WholeGateway) {
  for (;;) {
    const found = await gateway.call('approval.list', {});
    if (found.approvals.length > 0) return found;
    await new Promise(setImmediate);
  }
}

/** What was decided, and would be, by call. */
async function simulated(gateway: WholeGateway, policies: SimulatedPolicy[], as?: CallAs) {
  const { calls, ...sums } = await gateway.call('policy.simulate', { policies }, as);
  const verdicts: Record<string, [PolicyVerdict, PolicyVerdict]> = {};
  for (const { callId, was, would } of calls) verdicts[callId] = [was, would];
  return { ...sums, verdicts };
}

test('policies and their order are the same after a restart, and runs follow them', async () => {
  await using gateway = await wholeGateway();
  await add(gateway, 'to?ch', 'allow');
  await gateway.clock.advance(1);
  await add(gateway, 'look', 'deny');
  const before = await gateway.call('policy.list', {});
  assert.deepEqual(
    before.policies.map(({ name }) => name),
    ['deny look', 'allow to?ch'],
  );
  await gateway.restart();
  assert.deepEqual(await gateway.call('policy.list', {}), before);
  assert.deepEqual(await run(gateway, 'a'), ['l_a blocked', 't_a done']);
});

test('a change that cannot be stored has no effect, and is not recorded', async () => {
  await using gateway = await wholeGateway();
  const { policyId } = await add(gateway, 'look', 'deny');
  gateway.disk.fails = () => true;
  for (const [method, params] of [
    ['policy.create', { name: 'x', toolPattern: '*', action: 'deny' }],
    ['policy.update', { policyId, enabled: false }],
    ['policy.delete', { policyId }],
  ] as const)
    assert.equal((await gateway.refusal(method, params)).code, 'UNAVAILABLE');
  gateway.disk.fails = undefined;
  const { policies } = await gateway.call('policy.list', {});
  assert.deepEqual(
    policies.map(({ enabled }) => enabled),
    [true],
  );
  assert.deepEqual(await run(gateway, 'a', true), ['l_a blocked', 't_a done']);
  const { events } = await gateway.call('audit.list', { limit: 200 });
  const stored = events.filter(({ action, outcome }) => action.startsWith('policy.') && outcome === 'ok');
  assert.equal(stored.length, 1);
});

test('an empty change is refused', async () => {
  await using gateway = await wholeGateway();
  const { policyId } = await add(gateway, 'look', 'deny');
  const refused = { code: 'INVALID_REQUEST', message: 'No fields to update' };
  assert.deepEqual(await gateway.refusal('policy.update', { policyId }), refused);
});

test('a simulation compares with what was decided, also by policies that are gone', async () => {
  await using gateway = await wholeGateway();
  await run(gateway, 'asked', true);
  const { policyId } = await add(gateway, '*', 'deny');
  await run(gateway, 'denied');
  await gateway.call('policy.update', { policyId, action: 'allow' });
  await run(gateway, 'allowed');
  assert.deepEqual(await simulated(gateway, []), {
    ...{ total: 6, changed: 3 },
    verdicts: {
      ...{ t_asked: ['ask', 'ask'], l_asked: ['run', 'run'] },
      ...{ t_denied: ['deny', 'ask'], l_denied: ['deny', 'run'] },
      ...{ t_allowed: ['run', 'ask'], l_allowed: ['run', 'run'] },
    },
  });
  const { verdicts } = await simulated(gateway, [rule('*', 'allow'), rule('look', 'ask', 1), rule('l*', 'deny', 2)]);
  assert.deepEqual(
    Object.entries(verdicts)
      .map(([call, [, would]]) => [call.slice(0, 1), would])
      .sort(),
    [...Array(3).fill(['l', 'deny']), ...Array(3).fill(['t', 'run'])],
  );
});

test('with auto-approve for all tools, a policy that asks would have changed nothing', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('workstream.update', { wsId: await gateway.main(), autoApprove: true });
  await run(gateway, 'a');
  const { verdicts } = await simulated(gateway, [rule('touch', 'ask')]);
  assert.deepEqual(verdicts, { t_a: ['run', 'run'], l_a: ['run', 'run'] });
});

test('a simulation looks only at workstreams that the caller perceives, newest calls first, and at no more than asked', async () => {
  await using gateway = await wholeGateway();
  await run(gateway, 'a', true);
  await gateway.clock.advance(1_000);
  const { wsId } = await gateway.call('workstream.create', { visibility: 'private' }, { userId: 'ada' });
  gateway.puppet.turn(calling('look', {}, 'secret'));
  await gateway.call('chat.send', { sessionKey: wsId, message: 'go', idempotencyKey: 'b' }, { userId: 'ada' });
  await gateway.isIdle(wsId);
  const administrator = { userId: 'bob', permissions: new Set(['admin.policies'] as const) };
  const { verdicts } = await simulated(gateway, [], administrator);
  assert.deepEqual(verdicts, { t_a: ['ask', 'ask'], l_a: ['run', 'run'] });
  assert.equal((await simulated(gateway, [], { ...administrator, userId: 'ada' })).total, 3);
  const { calls } = await gateway.call('policy.simulate', { limit: 1 });
  assert.deepEqual(
    calls.map(({ callId }) => callId),
    ['secret'],
  );
});
