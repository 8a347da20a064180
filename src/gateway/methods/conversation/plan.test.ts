import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testGuard } from '../../../agent/guard/guard-fixture.ts';
import { planAgentTool } from '../../../agent/tools/person/plan-agent.ts';
import { createToolbox } from '../../../agent/tools/toolbox.ts';
import { toSseFrames } from '../../events/sse-frames.ts';
import { calling } from '../../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../../testing/whole-gateway.ts';

const PLAN = `## Goal
Move the port into the configuration, so that two servers can run on one machine.
## Current State
server.ts line 3 has the number 8080.
## Plan
1. Add it to config.ts
2. Read it in server.ts
## Risks
Scripts that know the number.`;

const STEPS = ['Add it to config.ts', 'Read it in server.ts'].map((text) => ({ text, status: 'pending' as const }));

const planningGateway = () => wholeGateway({ toolbox: createToolbox([planAgentTool], testGuard()) });

interface Asked {
  wsId: string;
  approvalId: string;
}

/** A plan that waits; the call itself was approved before. */
async function askPlan(gateway: WholeGateway, { write = false } = {}): Promise<Asked> {
  const wsId = await gateway.main();
  gateway.puppet.turn(calling('plan_agent', { goal: 'Move the port' }));
  gateway.puppet.turn(PLAN);
  await gateway.call('workstream.send', { wsId, message: 'go' }, write ? { scope: 'write', id: 'bob' } : {});
  await gateway.reaches(wsId, 'approve_request');
  const [call] = (await gateway.call('approval.list', { wsId })).approvals;
  assert.equal(call?.kind, 'tools');
  await gateway.call('approval.resolve', { approvalId: call?.approvalId ?? '', approved: true });
  return { wsId, approvalId: await nextPlan(gateway, wsId, 2) };
}

async function nextPlan(gateway: WholeGateway, wsId: string, count: number): Promise<string> {
  await gateway.reaches(wsId, 'approve_request', count);
  const [plan] = (await gateway.call('approval.list', { wsId })).approvals;
  assert.equal(plan?.kind, 'plan');
  return plan?.approvalId ?? assert.fail('no plan');
}

const outcomesIn = async (gateway: WholeGateway, wsId: string) =>
  (await gateway.events(wsId)).flatMap((event) => (event.type === 'tool_result' ? event.outcome : []));

test('an empty feedback approves a plan, whose steps are then the checklist, also after a restart', async () => {
  await using gateway = await planningGateway();
  const { wsId, approvalId } = await askPlan(gateway);
  const before = await gateway.call('workstream.get', { wsId });
  assert.equal(before.snapshot.workstream.state, 'attention');
  const answer = await gateway.call('plan.resolve', { wsId, feedback: '' }, { scope: 'write' });
  assert.deepEqual(answer, { status: 'ok', approvalId, outcome: 'approved' });
  await gateway.isIdle(wsId);
  const todoIn = async () => (await gateway.call('workstream.get', { wsId })).snapshot.todo;
  assert.deepEqual(await todoIn(), STEPS);
  await gateway.restart();
  assert.deepEqual(await todoIn(), STEPS);
});

const stuck = () => new Promise(() => undefined);
const requested = async ({ puppet }: WholeGateway, count: number): Promise<void> => {
  while (puppet.requests.length < count) await new Promise(setImmediate);
};

test('a crash while the planner explores begins the exploration anew', async () => {
  await using gateway = await planningGateway();
  const wsId = await gateway.main();
  gateway.puppet.turn(calling('plan_agent', { goal: 'Move the port' }));
  gateway.puppet.turn(stuck());
  await gateway.call('workstream.send', { wsId, message: 'go' });
  await gateway.reaches(wsId, 'approve_request');
  const [call] = (await gateway.call('approval.list', { wsId })).approvals;
  await gateway.call('approval.resolve', { approvalId: call?.approvalId ?? '', approved: true });
  await requested(gateway, 2);
  gateway.puppet.turn(PLAN);
  await gateway.crash();
  await nextPlan(gateway, wsId, 2);
  await gateway.call('plan.resolve', { wsId, feedback: '' });
  await gateway.isIdle(wsId);
  assert.deepEqual(await outcomesIn(gateway, wsId), ['done']);
});

test('a crash while a plan waits keeps the plan and its id', async () => {
  await using gateway = await planningGateway();
  const { wsId, approvalId } = await askPlan(gateway);
  const before = (await gateway.call('approval.list', { wsId })).approvals;
  await gateway.crash();
  const after = (await gateway.call('approval.list', { wsId })).approvals;
  assert.deepEqual(after, before);
  assert.equal((await gateway.call('plan.resolve', { wsId, feedback: '', approvalId })).outcome, 'approved');
  await gateway.isIdle(wsId);
  assert.deepEqual([gateway.puppet.requests.length, await outcomesIn(gateway, wsId)], [3, ['done']]);
});

test('a crash during a revision begins that revision anew', async () => {
  await using gateway = await planningGateway();
  const { wsId } = await askPlan(gateway);
  gateway.puppet.turn(stuck());
  await gateway.call('plan.resolve', { wsId, feedback: 'smaller' });
  await requested(gateway, 3);
  gateway.puppet.turn(PLAN);
  await gateway.crash();
  await nextPlan(gateway, wsId, 3);
  const [plan] = (await gateway.call('approval.list', { wsId })).approvals;
  assert.equal(plan?.items[0]?.plan?.round, 2);
  assert.equal((await gateway.call('plan.resolve', { wsId, feedback: '' })).outcome, 'approved');
  await gateway.isIdle(wsId);
  assert.deepEqual(await outcomesIn(gateway, wsId), ['done']);
});

test('a crash after each statement of a plan leaves one plan that is answered once', async () => {
  for (let dies = 0; ; dies += 1) {
    await using gateway = await planningGateway();
    const { wsId, approvalId } = await askPlan(gateway);
    let commits = 0;
    gateway.disk.diesAt = () => commits++ === dies;
    gateway.call('plan.resolve', { wsId, feedback: '' }).catch(() => undefined);
    for (let turn = 0; turn < 200 && commits <= dies; turn += 1) await new Promise(setImmediate);
    const isOver = commits <= dies;
    gateway.disk.diesAt = undefined;
    await gateway.crash();
    const [waiting] = (await gateway.call('approval.list', { wsId })).approvals;
    if (waiting) {
      assert.deepEqual([dies, waiting.approvalId], [0, approvalId]);
      await gateway.call('plan.resolve', { wsId, feedback: '' });
    }
    await gateway.isIdle(wsId);
    const row = await gateway.store.db.selectFrom('approvals').select('status').where('kind', '=', 'plan').execute();
    assert.deepEqual([row, await outcomesIn(gateway, wsId)], [[{ status: 'approved' }], ['done']], String(dies));
    if (isOver) return;
  }
});

test('words ask for another plan; a second answer to the first one is refused', async () => {
  await using gateway = await planningGateway();
  const { wsId, approvalId } = await askPlan(gateway);
  gateway.puppet.turn(PLAN);
  assert.equal((await gateway.call('plan.resolve', { wsId, feedback: ' smaller ' })).outcome, 'revised');
  const second = await nextPlan(gateway, wsId, 3);
  assert.deepEqual(await gateway.refusal('plan.resolve', { wsId, feedback: '', approvalId }), {
    code: 'CONFLICT',
    message: 'The approval was already decided',
  });
  assert.deepEqual(await gateway.call('plan.resolve', { wsId, feedback: 'No', approvalId: second }), {
    status: 'ok',
    approvalId: second,
    outcome: 'rejected',
  });
  await gateway.isIdle(wsId);
  assert.deepEqual(await outcomesIn(gateway, wsId), ['denied']);
});

test('of two simultaneous answers one counts', async () => {
  await using gateway = await planningGateway();
  const { wsId } = await askPlan(gateway);
  const settled = await Promise.allSettled(
    ['', 'no'].map((feedback) => gateway.call('plan.resolve', { wsId, feedback })),
  );
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
});

test('An answer to a plan must never decide another question', async () => {
  await using gateway = await planningGateway();
  const wsId = await gateway.main();
  assert.deepEqual(await gateway.call('plan.resolve', { wsId, feedback: '' }), { status: 'ok' });
  gateway.puppet.turn(calling('plan_agent', { goal: 'Move the port' }));
  await gateway.call('workstream.send', { wsId, message: 'go' });
  await gateway.reaches(wsId, 'approve_request');
  const [call] = (await gateway.call('approval.list', { wsId })).approvals;
  assert.deepEqual(await gateway.call('plan.resolve', { wsId, feedback: '' }, { scope: 'write' }), { status: 'ok' });
  const named = { wsId, feedback: '', approvalId: call?.approvalId };
  assert.deepEqual(await gateway.refusal('plan.resolve', named, { scope: 'write' }), {
    code: 'CONFLICT',
    message: 'This question is about tools, not about a plan',
  });
  assert.equal((await gateway.call('approval.list', { wsId })).approvals.length, 1);
});

test('who may not approve may answer a plan, but not have it changed in a run with more rights', async () => {
  await using gateway = await planningGateway();
  const { wsId } = await askPlan(gateway);
  const bob = { scope: 'write', id: 'bob' } as const;
  assert.equal((await gateway.refusal('plan.resolve', { wsId, feedback: 'delete it' }, bob)).code, 'FORBIDDEN');
  assert.equal((await gateway.call('plan.resolve', { wsId, feedback: 'reject' }, bob)).outcome, 'rejected');
  await gateway.isIdle(wsId);
  await using own = await planningGateway();
  const asked = await askPlan(own, { write: true });
  own.puppet.turn(PLAN);
  assert.equal((await own.call('plan.resolve', { wsId: asked.wsId, feedback: 'smaller' }, bob)).outcome, 'revised');
});

test('A plan that nobody answers must be rejected at its deadline', async () => {
  await using gateway = await planningGateway();
  const { wsId } = await askPlan(gateway);
  await gateway.clock.advance(3_600_000);
  await gateway.isIdle(wsId);
  assert.deepEqual(await outcomesIn(gateway, wsId), ['expired']);
  const decision = (await gateway.events(wsId)).findLast((event) => event.type === 'approval_resolved');
  assert.deepEqual([decision?.plan, decision?.by], ['rejected', { kind: 'timeout' }]);
});

test('a cancel rejects the plan', async () => {
  await using gateway = await planningGateway();
  const { wsId, approvalId } = await askPlan(gateway);
  const { dropped } = await gateway.call('workstream.cancel', { wsId });
  assert.deepEqual(dropped.pendingApproval, { approvalId, toolNames: ['plan_agent'], callId: 'call_plan_agent' });
  await gateway.isIdle(wsId);
  const decision = (await gateway.events(wsId)).findLast((event) => event.type === 'approval_resolved');
  assert.deepEqual([decision?.plan, await outcomesIn(gateway, wsId)], ['rejected', ['cancelled']]);
});

test('an approval with `always` approves a plan and grants nothing', async () => {
  await using gateway = await planningGateway();
  const { wsId, approvalId } = await askPlan(gateway);
  await gateway.call('approval.resolve', { approvalId, approved: true, always: true });
  await gateway.isIdle(wsId);
  assert.deepEqual(await outcomesIn(gateway, wsId), ['done']);
  assert.equal((await gateway.call('workstream.get', { wsId })).snapshot.workstream.mode, 'ask');
});

test('over HTTP, a plan is a plan_review, and its decision a plan_resolved', async () => {
  await using gateway = await planningGateway();
  const { wsId, approvalId } = await askPlan(gateway);
  await gateway.call('plan.resolve', { wsId, feedback: 'no' });
  await gateway.isIdle(wsId);
  const frames = (await gateway.events(wsId)).flatMap((event) => {
    const frame = toSseFrames({ wsId, cursor: 'e:1', type: event.type }, JSON.stringify(event));
    return /"type":"plan_/.test(frame) ? [JSON.parse(frame.split('data: ')[1] ?? '')] : [];
  });
  const ids = { ws_id: wsId, approval_id: approvalId, cycle_id: approvalId };
  assert.deepEqual(frames, [
    {
      type: 'plan_review',
      ...ids,
      content: PLAN,
      round: 1,
      revisions_left: 5,
      goal: 'Move the port',
      call_id: 'call_plan_agent',
      expires_at_ms: 4_600_000,
    },
    {
      ...{ type: 'plan_resolved', ...ids, call_id: 'call_plan_agent', outcome: 'rejected', feedback: 'no' },
      by: { kind: 'principal', id: 'ada' },
    },
  ]);
});
