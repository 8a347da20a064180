import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../timing/until.ts';
import { DAEMON } from '../sharing/perception.ts';
import { type Execute, LIVE } from '../testing/default-deps.ts';
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

test('sub-agents that end while a forced cancel takes their run over end once', async () => {
  let starts = 0;
  const execute: Execute = (_tool, { signal }) => {
    starts += 1;
    return until(never, signal);
  };
  await using machine = await machineWith({ execute });
  delegate(machine, prompts(2), () => [calling('look')]);
  const wsId = await machine.main();
  for (let turns = 0; turns < 10; turns += 1) {
    const run = await machine.accept('hello');
    starts = 0;
    await turnsUntil(() => starts === 2, 'two starts');
    const cancelled = machine.call('workstream.cancel', { wsId });
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
    await Promise.all([cancelled, machine.call('workstream.cancel', { wsId, force: true })]);
    await run?.ended;
  }
  const ends = ofType(await machine.events(wsId), 'sub_agent').filter(({ state }) => state === 'ended');
  assert.equal(new Set(ends.map(({ agent_id }) => agent_id)).size, 20);
  assert.equal(ends.length, 20);
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

test('five parents whose sub-agents ask at once: every question is answered once, over a crash', async () => {
  await using machine = await machineWith();
  delegate(machine, prompts(5), (request) => {
    const task = firstOf(request);
    return task.startsWith('below')
      ? [calling('touch', { text: task })]
      : [calling('task', { title: 'Below', prompt: `below ${task}` })];
  });
  await machine.accept('hello');
  const wsId = await machine.main();
  let previous: string | undefined;
  for (let count = 0; count < 5; count += 1) {
    previous = (await nextQuestion(machine, previous)).approvalId;
    if (count === 2) {
      await machine.crash();
      assert.equal((await nextQuestion(machine)).approvalId, previous);
    }
    await machine.call('approval.resolve', { approvalId: previous, approved: true });
  }
  await machine.isIdle(wsId);
  const touched = resultsOf(await machine.events(wsId), 'touch').map(({ output }) => output);
  assert.deepEqual(new Set(touched), new Set(prompts(5).map(({ prompt }) => `touched below ${prompt}`)));
  assert.equal(touched.length, 5);
  const { agents } = await machine.call('subagent.list', { wsId });
  assert.deepEqual(new Set(agents.map(({ outcome }) => outcome)), new Set(['done']));
  assert.equal(agents.length, 10);
});

for (const how of ['forced cancel', 'crash'] as const)
  test(`calls of sub-agents that break off are charged to their run: ${how}`, async () => {
    await using machine = await machineWith({ live: { ...LIVE, budgets: { day: { tokens: 10_000_000 } } } });
    let asking = 0;
    delegate(machine, prompts(2), () => {
      asking += 1;
      return asking > 2 ? ['done'] : [never];
    });
    const handle = await machine.accept('hello');
    const wsId = await machine.main();
    await turnsUntil(() => asking === 2, 'both sub-agents ask their models');
    const stored = async () => ({
      usage: await machine.store.db.selectFrom('usage').select(['run_id', 'turns', 'input', 'estimated']).execute(),
      reserved: await machine.store.db.selectFrom('reservations').select('run_id').execute(),
    });
    const { usage, reserved } = await stored();
    const [before, ...others] = usage;
    assert.deepEqual([before?.run_id, before?.estimated, others.length, reserved.length], [handle?.run.runId, 0, 0, 2]);
    if (how === 'crash') await machine.crash();
    else await machine.call('workstream.cancel', { wsId, force: true });
    await machine.isIdle(wsId);
    const after = await stored();
    const [run, ...rest] = after.usage;
    assert.deepEqual([run?.run_id, rest, after.reserved], [handle?.run.runId, [], []]);
    assert.ok(run && before && run.estimated > 0 && run.input > before.input, JSON.stringify(run));
  });
