import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../agent/providers/model.ts';
import { until } from '../../timing/until.ts';
import type { Execute } from '../testing/default-deps.ts';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { delegate, firstOf, machineWith, never, nextQuestion, prompts, resultsOf } from './sub-agents-fixture.ts';

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

test('a question that ended with its sub-agent stays as it is when the daemon starts again', async () => {
  await using machine = await machineWith();
  delegate(machine, prompts(2), (request) => [calling('touch', { text: firstOf(request) })]);
  await machine.accept('hello');
  const wsId = await machine.main();
  const first = await nextQuestion(machine);
  await machine.call('subagent.cancel', { wsId, agentId: first.agentId ?? '' });
  const second = await nextQuestion(machine, first.approvalId);
  const stored = () => machine.store.db.selectFrom('approvals').selectAll().where('status', '=', 'cancelled').execute();
  const before = await stored();
  await machine.clock.advance(60_000);
  await machine.crash();
  const again = await nextQuestion(machine);
  assert.equal(again.approvalId, second.approvalId);
  assert.deepEqual([await stored(), before.length], [before, 1]);
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

test('the wait of a sub-agent for its model ends early when a person wants it', async () => {
  await using machine = await machineWith();
  const error = new ProviderError('rate_limited', 'slow down', { retryable: true });
  delegate(machine, prompts(1), () => [
    async (patience, signal) =>
      patience?.wait({ error, untilMs: machine.clock.now() + 300_000, attempt: 2, attempts: 6 }, signal),
    'done',
  ]);
  const run = await machine.accept('hello');
  const wsId = await machine.main();
  await machine.reaches(wsId, 'wait_start');
  assert.equal((await machine.call('workstream.proceed', { wsId })).wasWaiting, true);
  assert.equal((await run?.ended)?.status, 'ok');
  assert.equal((await machine.call('workstream.proceed', { wsId })).wasWaiting, false);
});
