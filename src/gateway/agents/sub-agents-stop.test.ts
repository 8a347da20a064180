import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../timing/until.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { Execute } from '../testing/default-deps.ts';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import {
  delegate,
  firstOf,
  machineWith,
  never,
  nextQuestion,
  ofType,
  prompts,
  resultsOf,
} from './sub-agents-fixture.ts';

test('a question of a sub-agent stays open over a crash, and the answer counts once', async () => {
  await using machine = await machineWith();
  delegate(machine, prompts(2), (request) => [calling('touch', { text: firstOf(request) })]);
  await machine.accept('hello');
  const wsId = await machine.main();
  const before = await nextQuestion(machine);
  await machine.crash();
  const after = await nextQuestion(machine);
  assert.equal(after.approvalId, before.approvalId);
  assert.equal(after.agentId, before.agentId);
  assert.equal((await machine.call('workstream.get', { wsId })).snapshot.workstream.state, 'attention');
  await machine.call('approval.resolve', { approvalId: after.approvalId, approved: true });
  const second = await nextQuestion(machine, after.approvalId);
  await machine.call('approval.resolve', { approvalId: second.approvalId, approved: true });
  await machine.isIdle(wsId);
  const events = await machine.events(wsId);
  assert.deepEqual(
    resultsOf(events, 'touch')
      .map(({ output, outcome }) => [output, outcome])
      .sort(),
    [
      ['touched part 0', 'done'],
      ['touched part 1', 'done'],
    ],
  );
  assert.deepEqual(
    resultsOf(events, 'task').map(({ outcome }) => outcome),
    ['done', 'done'],
  );
});

test('a call of a sub-agent that a crash interrupted is asked about, and the sub-agent goes on', async () => {
  let starts = 0;
  const execute: Execute = async () => {
    starts += 1;
    return starts === 1 ? await new Promise<never>(() => undefined) : { output: 'touched', outcome: 'done' };
  };
  await using machine = await machineWith({ execute });
  delegate(machine, prompts(1), () => [calling('touch')]);
  await machine.accept('hello');
  const wsId = await machine.main();
  const first = await nextQuestion(machine);
  await machine.call('approval.resolve', { approvalId: first.approvalId, approved: true });
  await turnsUntil(() => starts === 1, 'a start');
  await machine.crash();
  const question = await nextQuestion(machine, first.approvalId);
  assert.deepEqual([question.kind, starts], ['outcome', 1]);
  await machine.call('approval.resolve', { approvalId: question.approvalId, approved: false, feedback: 'no' });
  await machine.isIdle(wsId);
  const events = await machine.events(wsId);
  assert.deepEqual([starts, resultsOf(events, 'touch').map(({ outcome }) => outcome)], [1, ['unknown']]);
  assert.equal(new Set(ofType(events, 'sub_agent').map(({ agent_id }) => agent_id)).size, 1, 'no second sub-agent');
});

test('a cancel ends all sub-agents, and the receipt lists their tools', async () => {
  let starts = 0;
  const execute: Execute = (_tool, { signal }) => {
    starts += 1;
    return until(never, signal);
  };
  await using machine = await machineWith({ execute });
  delegate(machine, prompts(3), () => [calling('look')]);
  const run = await machine.accept('hello');
  const wsId = await machine.main();
  await turnsUntil(() => starts === 3, 'three starts');
  const { dropped } = await machine.call('workstream.cancel', { wsId });
  assert.deepEqual(dropped.stoppedTools.sort(), ['look', 'look', 'look', 'task', 'task', 'task']);
  assert.equal(dropped.subAgents, 3);
  assert.equal((await run?.ended)?.status, 'cancelled');
  const events = await machine.events(wsId);
  const ended = ofType(events, 'sub_agent').filter(({ state }) => state === 'ended');
  assert.deepEqual(
    ended.map(({ outcome }) => outcome),
    ['cancelled', 'cancelled', 'cancelled'],
  );
  const open = await machine.store.db.selectFrom('sub_agents').select('agent_id').where('is_running', '=', 1).execute();
  assert.deepEqual(open, []);
});

test('a forced cancel ends sub-agents whose tools do not stop, and withdraws their question', async () => {
  const execute: Execute = () => new Promise(() => undefined);
  await using machine = await machineWith({ execute });
  delegate(machine, prompts(2), (request) => [calling(firstOf(request) === 'part 0' ? 'touch' : 'look')]);
  const run = await machine.accept('hello');
  const wsId = await machine.main();
  const { approvalId } = await nextQuestion(machine);
  await machine.call('workstream.cancel', { wsId, force: true });
  assert.equal((await run?.ended)?.status, 'cancelled');
  assert.deepEqual((await machine.call('approval.list', {})).approvals, []);
  const events = await machine.events(wsId);
  assert.deepEqual(
    ofType(events, 'approval_resolved').map(({ approval_id, approved }) => [approval_id, approved]),
    [[approvalId, false]],
  );
  const ended = ofType(events, 'sub_agent').filter(({ state }) => state === 'ended');
  assert.deepEqual(
    ended.map(({ outcome }) => outcome),
    ['cancelled', 'cancelled'],
  );
  const rows = await machine.store.db.selectFrom('approvals').select('status').execute();
  assert.deepEqual(rows, [{ status: 'cancelled' }]);
});

test('an orderly stop suspends a sub-agent, and the next start continues it', async () => {
  let starts = 0;
  const execute: Execute = (_tool, { signal }) => {
    starts += 1;
    return starts === 1 ? until(never, signal) : Promise.resolve({ output: 'looked', outcome: 'done' });
  };
  await using machine = await machineWith({ execute });
  delegate(machine, prompts(1), () => [calling('look')]);
  await machine.accept('hello');
  const wsId = await machine.main();
  await turnsUntil(() => starts === 1, 'a start');
  await machine.restart();
  await machine.isIdle(wsId);
  const events = await machine.events(wsId);
  assert.deepEqual(
    resultsOf(events, 'task').map(({ outcome }) => outcome),
    ['done'],
  );
  assert.equal(new Set(ofType(events, 'sub_agent').map(({ agent_id }) => agent_id)).size, 1);
});

test('what a sub-agent did can be read later, also after a restart', async () => {
  await using machine = await machineWith();
  delegate(machine, prompts(1), () => [calling('look', { text: 'here' })]);
  await (await machine.accept('hello'))?.ended;
  await machine.restart();
  const wsId = await machine.main();
  const { agents } = await machine.call('subagent.list', { wsId });
  assert.deepEqual(
    agents.map(({ title, state, outcome }) => [title, state, outcome]),
    [['Task 0', 'ended', 'done']],
  );
  const agentId = agents[0]?.agent_id ?? '';
  const { messages } = await machine.call('subagent.messages', { wsId, agentId });
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content]),
    [
      ['user', 'part 0'],
      ['assistant', null],
      ['tool', 'looked here'],
      ['assistant', 'did part 0'],
    ],
  );
  const { code } = await machine.refusal('subagent.messages', { wsId, agentId: 'agt_other' });
  assert.equal(code, 'NOT_FOUND');
});

test('a deleted workstream leaves nothing of its sub-agents', async () => {
  await using machine = await machineWith();
  delegate(machine, prompts(2), () => [calling('look')]);
  const { wsId } = await machine.call('workstream.create', {});
  const { workstreams } = machine.parts;
  await (await machine.accept('hello', { to: await workstreams.get(wsId, DAEMON) }))?.ended;
  await machine.call('workstream.delete', { wsId });
  await turnsUntil(async () => {
    const rows = await machine.store.db.selectFrom('sub_agents').selectAll().execute();
    const messages = await machine.store.db.selectFrom('sub_agent_messages').selectAll().execute();
    return rows.length + messages.length === 0;
  }, 'no rows');
});

test('a person cancels one sub-agent: it ends with its own, the others go on, and the agent is told who did it', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  let starts = 0;
  const execute: Execute = async (_tool, { signal }) => {
    starts += 1;
    await until(goOn, signal);
    return { output: 'looked', outcome: 'done' };
  };
  await using machine = await machineWith({ execute });
  delegate(machine, [{ prompt: 'outer' }, { prompt: 'other' }], (request) =>
    firstOf(request) === 'outer' ? [calling('task', { title: 'Inner', prompt: 'inner' })] : [calling('look')],
  );
  const run = await machine.accept('hello');
  const wsId = await machine.main();
  await turnsUntil(() => starts === 2, 'two starts');
  const { agents } = await machine.call('subagent.list', { wsId });
  const [outer] = agents.filter(({ depth, title }) => depth === 1 && title === 'Task 0');
  const agentId = outer?.agent_id ?? '';
  const answer = await machine.call('subagent.cancel', { wsId, agentId });
  assert.deepEqual([answer.cancelled, answer.agent.state, answer.agent.outcome], [true, 'ended', 'cancelled']);
  assert.equal((await machine.call('subagent.cancel', { wsId, agentId })).cancelled, false, 'it had ended');
  resolve();
  assert.equal((await run?.ended)?.status, 'ok');
  const ended = (await machine.call('subagent.list', { wsId })).agents;
  assert.deepEqual(
    Object.fromEntries(ended.map(({ title, outcome, cancelled_by }) => [title, [outcome, cancelled_by !== undefined]])),
    {
      'Task 0': ['cancelled', true],
      Inner: ['cancelled', false],
      'Task 1': ['done', false],
    },
  );
  const [result] = resultsOf(await machine.events(wsId), 'task').filter(({ output }) => output.includes(agentId));
  const { cancelled_by: by, outcome } = JSON.parse(result?.output ?? '{}');
  assert.deepEqual([result?.outcome, outcome, by], ['cancelled', 'cancelled', 'a person']);
  assert.equal((await machine.refusal('subagent.cancel', { wsId, agentId: 'agt_other' })).code, 'NOT_FOUND');
});

test('the cancel of a sub-agent withdraws its question, and the next one asks', async () => {
  await using machine = await machineWith();
  delegate(machine, prompts(2), (request) => [calling('touch', { text: firstOf(request) })]);
  const run = await machine.accept('hello');
  const wsId = await machine.main();
  const first = await nextQuestion(machine);
  await machine.call('subagent.cancel', { wsId, agentId: first.agentId ?? '' });
  const second = await nextQuestion(machine, first.approvalId);
  assert.notEqual(second.agentId, first.agentId);
  await machine.call('approval.resolve', { approvalId: second.approvalId, approved: true });
  assert.equal((await run?.ended)?.status, 'ok');
  const rows = await machine.store.db.selectFrom('approvals').select('status').execute();
  assert.deepEqual(rows.map(({ status }) => status).sort(), ['approved', 'cancelled']);
});

test('the cancel of a sub-agent holds after a crash', async () => {
  let starts = 0;
  const execute: Execute = () => {
    starts += 1;
    return never; // it does not follow the cancel
  };
  await using machine = await machineWith({ execute });
  delegate(machine, prompts(1), () => [calling('look')]);
  await machine.accept('hello');
  const wsId = await machine.main();
  await turnsUntil(() => starts === 1, 'a start');
  const [agent] = (await machine.call('subagent.list', { wsId })).agents;
  // Its process dies before it answers.
  void machine.call('subagent.cancel', { wsId, agentId: agent?.agent_id ?? '' }).catch(() => undefined);
  await turnsUntil(async () => {
    const [row] = (await machine.call('subagent.list', { wsId })).agents;
    return row?.cancelled_by !== undefined;
  }, 'a stored cancel');
  await machine.crash();
  await machine.isIdle(wsId);
  const [after] = (await machine.call('subagent.list', { wsId })).agents;
  assert.deepEqual([after?.outcome, starts], ['cancelled', 1]);
});

test('a sub-agent that works too long ends at its limit, and waiting for a person does not count', async () => {
  let starts = 0;
  const execute: Execute = (tool, { signal }) => {
    starts += 1;
    return tool === 'touch' ? Promise.resolve({ output: 'touched', outcome: 'done' }) : until(never, signal);
  };
  await using machine = await machineWith({ execute });
  delegate(machine, [{ prompt: 'slow', timeout_seconds: 60 }], () => [
    calling('touch'),
    calling('look', {}, 'call_look'),
  ]);
  const run = await machine.accept('hello');
  const wsId = await machine.main();
  const { approvalId } = await nextQuestion(machine);
  await machine.clock.advance(120_000);
  await machine.call('approval.resolve', { approvalId, approved: true });
  await turnsUntil(() => starts === 2, 'both calls');
  await machine.clock.advance(61_000);
  assert.equal((await run?.ended)?.status, 'ok');
  const [agent] = (await machine.call('subagent.list', { wsId })).agents;
  assert.deepEqual([agent?.outcome, agent?.timeout_secs], ['limit', 60]);
  const [result] = resultsOf(await machine.events(wsId), 'task');
  assert.match(JSON.parse(result?.output ?? '{}').text, /took longer than 60 s/);
});
