import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delegate, machineWith } from '../agents/sub-agents-fixture.ts';
import { calling } from '../testing/puppet-model.ts';
import { measureAgents } from './file-agent.ts';
import { exported } from './portable-fixture.ts';

/** A conversation whose agent gave two tasks; each sub-agent made a call. */
async function delegated() {
  const machine = await machineWith({ execute: async () => ({ output: 'seen', outcome: 'done' }) });
  delegate(machine, [{ prompt: 'part 0' }, { prompt: 'part 1' }], () => [calling('look', {}, 'call_look')]);
  await (await machine.accept('do both'))?.ended;
  return machine;
}

test('an export has what sub-agents read and said, and an import shows it again', async () => {
  await using machine = await delegated();
  const file = await exported(machine, await machine.main());
  const { agents = [] } = file;
  assert.deepEqual(
    agents.map(({ callId, title, outcome, messages }) => [callId, title, outcome, messages.map(({ role }) => role)]),
    [
      ['call_0', 'Task 0', 'done', ['user', 'assistant', 'tool', 'assistant']],
      ['call_1', 'Task 1', 'done', ['user', 'assistant', 'tool', 'assistant']],
    ],
  );
  assert.doesNotMatch(JSON.stringify(agents), /agt_|agent_id/);
  const { wsId } = await machine.call('workstream.import', { conversation: file });
  const listed = (await machine.call('subagent.list', { wsId })).agents;
  assert.deepEqual(
    listed.map(({ call_id, title, state, last_output }) => [call_id, title, state, last_output]),
    [
      ['call_0', 'Task 0', 'ended', 'did part 0'],
      ['call_1', 'Task 1', 'ended', 'did part 1'],
    ],
  );
  const { messages } = await machine.call('subagent.messages', { wsId, agentId: listed[0]?.agent_id ?? '' });
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content]),
    [
      ['user', 'part 0'],
      ['assistant', null],
      ['tool', 'seen'],
      ['assistant', 'did part 0'],
    ],
  );
  assert.deepEqual(await exported(machine, wsId), file, 'H95');
});

test('a sub-agent stays in the export when its times are before those of the one that started it', async () => {
  await using machine = await delegated();
  const file = await exported(machine, await machine.main());
  const [first = assert.fail(), second = assert.fail()] = file.agents ?? [];
  const callId = first.messages.flatMap((each) => (each.role === 'tool' ? [each.callId] : []))[0] ?? assert.fail();
  const child = { ...second, callId, parent: 0, startedMs: 5, endedMs: 6 };
  const conversation = { ...file, agents: [{ ...first, startedMs: 9, endedMs: 10 }, child] };
  const { wsId } = await machine.call('workstream.import', { conversation });
  assert.deepEqual(await exported(machine, wsId), conversation);
});

test('other work goes on between the sub-agents of an export', async () => {
  await using machine = await delegated();
  const wsId = await machine.main();
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const { length } = await measureAgents(machine.store, wsId);
  clearImmediate(next);
  assert.ok(turns >= length, `${turns} turns`);
});

test('Markdown has what sub-agents said after the conversation', async () => {
  await using machine = await delegated();
  const answer = await machine.call('workstream.export', { wsId: await machine.main(), format: 'markdown' });
  assert.ok(answer.format === 'markdown');
  const end = answer.markdown.slice(answer.markdown.indexOf('# Sub-agents'));
  assert.match(
    end,
    /## Task 0 \(done\)\n[\s\S]*part 0[\s\S]*\*\*Result of look\*\*[\s\S]*did part 0[\s\S]*## Task 1 \(done\)/,
  );
});

test('sub-agents of calls that no longer count stay behind', async () => {
  await using machine = await delegated();
  const wsId = await machine.main();
  await machine.call('workstream.command', { wsId, command: '/clear' });
  machine.puppet.replies(() => ['hello']);
  await (await machine.accept('hello'))?.ended;
  assert.equal((await exported(machine, wsId)).agents, undefined);
});

test('a sub-agent in a file has a call of the conversation, complete calls, and a parent before it', async () => {
  await using machine = await delegated();
  const file = await exported(machine, await machine.main());
  const [first = assert.fail(), second = assert.fail()] = file.agents ?? [];
  const wrong: [object[], RegExp][] = [
    [[{ ...first, callId: 'call_9' }], /^agents\.0\.callId: no call has this id$/],
    [[{ ...first, parent: 0 }], /^agents\.0\.parent: must be the place of a sub-agent before it$/],
    [[first, { ...second, parent: 7 }], /^agents\.1\.parent: /],
    [[{ ...first, messages: first.messages.slice(0, 2) }], /^agents\.0\.messages: the result of call/],
    [[{ ...first, omittedMessages: 3 }], /^agents\.0\.omittedMessages: only for/],
  ];
  for (const [agents, message] of wrong) {
    const refusal = await machine.refusal('workstream.import', { conversation: { ...file, agents } });
    assert.equal(refusal.code, 'INVALID_REQUEST');
    assert.match(refusal.message, message);
  }
});

test('a damaged message of a sub-agent refuses the export', async () => {
  await using machine = await delegated();
  const sql = `UPDATE sub_agent_messages SET body_json = '{' WHERE seq = 2`;
  await machine.store.commit({ statements: [{ sql, parameters: [] }] });
  const { message } = await machine.refusal('workstream.export', { wsId: await machine.main() });
  assert.match(message, /damaged/);
});
