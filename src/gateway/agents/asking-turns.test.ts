import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { ModelRequest } from '../../agent/providers/model.ts';
import { taskTool } from '../../agent/tools/agents/task.ts';
import { planAgentTool } from '../../agent/tools/person/plan-agent.ts';
import type { Tool, ToolRun } from '../../agent/tools/tool.ts';
import { LIVE } from '../testing/default-deps.ts';
import { calling, type Move } from '../testing/puppet-model.ts';
import { turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { delegate, firstOf, machineWith, never, nextQuestion, ofType, prompts } from './sub-agents-fixture.ts';

const PLAN = `## Goal\nx\n## Current State\nx\n## Plan\n1. ${'x'.repeat(100)}\n## Risks\nx`;

/** A tool that does this while it runs. */
const remoteTool = (execute: (run: ToolRun) => unknown, safeToRepeat = true): Tool => ({
  ...{ name: 'remote', description: 'Asks.', parameters: z.object({}), readOnly: true, safeToRepeat },
  prepare: async () => ({
    ...{ kind: 'ready', subject: '', preview: '', approvalLabel: 'remote', needsApproval: false },
    execute: async (run) => ({ output: JSON.stringify(await execute(run)), outcome: 'done' }),
  }),
});

const askPort = ({ inputs, signal }: ToolRun) =>
  inputs?.ask({ from: 'server s', question: { text: 'Port?', choices: [] }, round: 0 }, signal);

/** All turns of the event loop that a question would need to be asked. */
const settled = async () => {
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
};

const pendingIn = async (machine: WholeGateway) =>
  (await machine.call('approval.list', {})).approvals.map(({ approvalId }) => approvalId);

const stateOf = async (machine: WholeGateway) =>
  (await machine.call('workstream.get', { wsId: await machine.main() })).snapshot.workstream.state;

const approve = (machine: WholeGateway, approvalId: string) =>
  machine.call('approval.resolve', { approvalId, approved: true });

/** A run whose one turn makes a plan and calls the tool `remote`; the second request of the planner meets the budget of the run. The person has allowed the calls. */
async function planAndRemote(remote: Tool, planned: Promise<unknown>) {
  const live = { ...LIVE, budgets: { run: { tokens: 150 } } };
  const machine = await wholeGateway({ tools: [planAgentTool, remote], live });
  let plannerTurns = 0;
  machine.puppet.replies((request): Move[] => {
    if (request.system.includes('You are planning now')) {
      plannerTurns += 1;
      return plannerTurns === 1 ? [planned, calling('nothing', {}, 'p1')] : [PLAN];
    }
    if (request.messages.at(-1)?.role === 'tool') return ['done'];
    return [calling('plan_agent', { goal: 'g' }, 'c1'), calling('remote', {}, 'c2')];
  });
  const run = await machine.accept('hello');
  const { approvalId } = await nextQuestion(machine);
  await approve(machine, approvalId);
  const first = await nextQuestion(machine, approvalId);
  return { machine, run, first };
}

/** Approves each question as it comes, and returns their kinds. */
async function approveAll(machine: WholeGateway): Promise<string[]> {
  const kinds: string[] = [];
  let previous: string | undefined;
  const isOver = () => machine.mainWorkstream().current === undefined;
  for (;;) {
    await turnsUntil(async () => isOver() || (await pendingIn(machine)).some((id) => id !== previous), 'a question');
    if (isOver()) return kinds;
    const { approvalId, kind } = await nextQuestion(machine, previous);
    previous = approvalId;
    kinds.push(kind);
    await approve(machine, approvalId);
  }
}

test('a budget that is used up while a call asks the person is asked about afterwards', async () => {
  const planned = Promise.withResolvers<void>();
  const { machine, run, first } = await planAndRemote(remoteTool(askPort), planned.promise);
  await using _ = machine;
  planned.resolve();
  await settled();
  assert.deepEqual(await pendingIn(machine), [first.approvalId]);
  assert.deepEqual(await approveAll(machine), ['tools', 'budget', 'plan']);
  assert.equal((await run?.ended)?.status, 'ok');
});

test('after a restart, a call asks the person when the question about a budget is decided', async () => {
  let isFirst = true;
  const remote = remoteTool((run) => {
    if (!isFirst) return askPort(run);
    isFirst = false;
    return never;
  });
  const { machine, first } = await planAndRemote(remote, Promise.resolve());
  await using _ = machine;
  await machine.crash();
  await settled();
  assert.deepEqual(await pendingIn(machine), [first.approvalId]);
  assert.deepEqual(await approveAll(machine), ['budget', 'tools', 'plan']);
});

const isSubAgent = ({ system }: ModelRequest) => system.includes('You are a sub-agent');

/** A run whose one turn starts a sub-agent that asks, and calls the tool `remote`. */
async function taskAndRemote(remote: Tool) {
  const machine = await wholeGateway({ tools: [taskTool, remote] });
  machine.puppet.replies((request): Move[] => {
    if (request.messages.at(-1)?.role === 'tool') return ['done'];
    if (isSubAgent(request)) return [calling('touch', { text: 'x' })];
    return [calling('task', { title: 'T', prompt: 'p' }, 'c1'), calling('remote', {}, 'c2')];
  });
  return machine;
}

test('a run asks when the question of its sub-agent is decided', async () => {
  const asked = Promise.withResolvers<void>();
  await using machine = await taskAndRemote(remoteTool((run) => asked.promise.then(() => askPort(run))));
  const run = await machine.accept('hello');
  const first = await nextQuestion(machine);
  asked.resolve();
  await settled();
  assert.deepEqual([await pendingIn(machine), await stateOf(machine)], [[first.approvalId], 'attention']);
  assert.notEqual(first.agentId, undefined);
  await approve(machine, first.approvalId);
  const second = await nextQuestion(machine, first.approvalId);
  assert.deepEqual([second.agentId, await stateOf(machine)], [undefined, 'attention']);
  await approve(machine, second.approvalId);
  assert.equal((await run?.ended)?.status, 'ok');
});

test('after a restart, the question of a sub-agent can be decided while the run asks what became of a call', async () => {
  const remote = remoteTool(() => never, false);
  await using machine = await taskAndRemote(remote);
  await machine.accept('hello');
  const first = await nextQuestion(machine);
  await machine.crash();
  await turnsUntil(async () => (await pendingIn(machine)).length === 2, 'both questions');
  const wsId = await machine.main();
  const { snapshot } = await machine.call('workstream.get', { wsId });
  const [outcome] = snapshot.pendingApprovals;
  assert.deepEqual(
    snapshot.pendingApprovals.map(({ kind }) => kind),
    ['outcome', 'tools'],
  );
  await machine.call('approval.resolve', { approvalId: outcome?.approvalId ?? '', approved: false });
  await settled();
  assert.deepEqual([await pendingIn(machine), await stateOf(machine)], [[first.approvalId], 'attention']);
  await machine.call('workstream.approve', { wsId, approved: true, approvalId: first.approvalId });
  await machine.isIdle(wsId);
});

test('a question that waits for its turn has its full time afterwards', async () => {
  await using machine = await machineWith();
  delegate(machine, prompts(2), (request) => [calling('touch', { text: firstOf(request) })]);
  const run = await machine.accept('hello');
  const first = await nextQuestion(machine);
  await settled();
  machine.clock.jump(3_590_000);
  await approve(machine, first.approvalId);
  const second = await nextQuestion(machine, first.approvalId);
  const expected = machine.clock.now() + LIVE.approvalMs;
  const told = ofType(await machine.events(await machine.main()), 'approve_request').at(-1);
  assert.deepEqual([second.expiresAtMs, told?.expires_at_ms], [expected, expected]);
  await approve(machine, second.approvalId);
  await run?.ended;
});
