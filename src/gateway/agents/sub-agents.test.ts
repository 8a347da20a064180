import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { ModelPart } from '../../agent/providers/model.ts';
import { taskTool } from '../../agent/tools/agents/task.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { createOutputSource } from '../history/output-source.ts';
import { type Execute, LIVE } from '../testing/default-deps.ts';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import {
  delegate,
  firstOf,
  lastResult,
  machineWith,
  nextQuestion,
  ofType,
  prompts,
  resultsOf,
} from './sub-agents-fixture.ts';

test('a sub-agent has its own context, and its answer is the result of the call', async () => {
  await using machine = await machineWith();
  machine.puppet.turn(calling('task', { title: 'Look around', prompt: 'What is there?' }));
  machine.puppet.turn(calling('look', { text: 'here' }));
  machine.puppet.turn('Nothing special.');
  machine.puppet.turn('It says: nothing special.');
  const end = await (await machine.accept('hello'))?.ended;
  assert.equal(end?.status, 'ok');
  const [first, second, third, last] = machine.puppet.requests;
  assert.ok(first && second && third && last);
  assert.deepEqual(
    second.messages.map(({ role }) => role),
    ['user'],
  );
  assert.equal(firstOf(second), 'What is there?');
  assert.match(second.system, /You are a sub-agent/);
  assert.doesNotMatch(first.system, /You are a sub-agent/);
  assert.equal(third.system, second.system);
  assert.deepEqual(third.messages.slice(0, 1), second.messages, 'append-only');
  assert.equal(last.system, first.system);
  assert.deepEqual(
    last.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool'],
  );
  const { agent_id: agentId, ...result } = lastResult(last) as { agent_id: string };
  assert.deepEqual(result, { outcome: 'done', text: 'Nothing special.', turns: 2, tool_calls: 1, tokens: 200 });
  const events = await machine.events(await machine.main());
  assert.deepEqual(
    ofType(events, 'sub_agent').map(({ state, turns, tool_calls, outcome }) => [state, turns, tool_calls, outcome]),
    [
      ['waiting', 0, 0, undefined],
      ['running', 0, 0, undefined],
      ['running', 1, 0, undefined],
      ['running', 1, 1, undefined],
      ['running', 2, 1, undefined],
      ['ended', 2, 1, 'done'],
    ],
  );
  assert.deepEqual(
    ofType(events, 'tool_result').map(({ name, agent_id }) => [name, agent_id]),
    [
      ['look', agentId],
      ['task', undefined],
    ],
  );
  assert.equal(
    ofType(events, 'content')
      .map(({ text }) => text)
      .join(''),
    'It says: nothing special.',
  );
});

test('the parent reads what a sub-agent wrote before its answer was cut off', async () => {
  const usage = { promptTokens: 7, completionTokens: 3, cacheCreationTokens: 0, cacheReadTokens: 0 };
  const cut: ModelPart = { type: 'finish', reason: 'length', usage };
  await using machine = await machineWith();
  machine.puppet.turn(calling('task', { title: 'Look around', prompt: 'What is there?' }));
  machine.puppet.turn('Nothing', cut);
  machine.puppet.turn(' special', cut);
  await (await machine.accept('hello'))?.ended;
  const result = lastResult(machine.puppet.requests.at(-1) ?? assert.fail()) as { outcome: string; text: string };
  const text = 'Nothing special\n\n[The answer is incomplete: it was cut off at the model’s output limit.]';
  assert.deepEqual([result.outcome, result.text], ['failed', text]);
});

test('the ids of all calls of a sub-agent are taken, and its outputs are found while it works', async () => {
  const outputs: string[] = [];
  await using machine = await machineWith({
    async execute() {
      const wsId = await machine.main();
      const ids = ofType(await machine.events(wsId), 'tool_result').map(({ call_id: id }) => id);
      const source = createOutputSource({ store: machine.store, outputs: { open: async () => undefined } });
      for (const id of ids) {
        const found = await source.open(wsId, id);
        if (found.kind === 'found') for await (const piece of found.pieces) outputs.push(String(piece));
      }
      return { output: 'what it saw', outcome: 'done' };
    },
  });
  machine.puppet.turn(calling('task', { title: 'Look twice', prompt: 'What is there?' }));
  machine.puppet.turn(calling('look', { text: 'here' }, 'call_2'));
  machine.puppet.turn(calling('look', { text: 'there' }, 'call_3'));
  machine.puppet.turn('Nothing.');
  machine.puppet.turn('Nothing at all.');
  await (await machine.accept('hello'))?.ended;
  assert.deepEqual(outputs, ['what it saw']);
  const [, , , last] = machine.puppet.requests;
  assert.match([...(last?.earlierCalls ?? [])].join(), /^call_2_[\w-]+,call_3_[\w-]+$/);
  const [id = ''] = ofType(await machine.events(await machine.main()), 'tool_result').map(({ call_id }) => call_id);
  const source = createOutputSource({ store: machine.store, outputs: { open: async () => undefined } });
  assert.equal((await source.open(await machine.main(), id)).kind, 'unknown', 'it has ended');
});

test('the questions of five sub-agents come one after the other, and none is lost', async () => {
  await using machine = await machineWith({ live: { ...LIVE, subAgents: { ...LIVE.subAgents, parallel: 2 } } });
  delegate(machine, prompts(5), (request) => [calling('touch', { text: firstOf(request) })]);
  const run = await machine.accept('hello');
  const wsId = await machine.main();
  const asked: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const question = await nextQuestion(machine, asked.at(-1));
    const { approvals } = await machine.call('approval.list', {});
    assert.equal(approvals.length, 1);
    assert.ok(question.agentId);
    assert.equal((await machine.call('workstream.get', { wsId })).snapshot.workstream.state, 'attention');
    asked.push(question.approvalId);
    await machine.call('workstream.approve', { wsId, approved: true });
  }
  assert.equal((await run?.ended)?.status, 'ok');
  assert.equal(new Set(asked).size, 5);
  const events = await machine.events(wsId);
  assert.deepEqual(
    resultsOf(events, 'touch')
      .map(({ output }) => output)
      .sort(),
    [0, 1, 2, 3, 4].map((index) => `touched part ${index}`),
  );
  assert.equal(resultsOf(events, 'task').length, 5);
  assert.equal(new Set(resultsOf(events, 'touch').map(({ call_id }) => call_id)).size, 5, 'ids differ');
});

test('no more sub-agents work at once than the setting says, also nested ones', async () => {
  let [working, most] = [0, 0];
  const execute: Execute = async () => {
    most = Math.max(most, ++working);
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    working -= 1;
    return { output: 'looked', outcome: 'done' };
  };
  await using machine = await machineWith({
    live: { ...LIVE, subAgents: { ...LIVE.subAgents, parallel: 1 } },
    execute,
  });
  delegate(machine, prompts(3), (request) =>
    firstOf(request).startsWith('part')
      ? [calling('task', { title: 'Below', prompt: `below ${firstOf(request)}` })]
      : [calling('look', { text: firstOf(request) })],
  );
  const run = await machine.accept('hello');
  assert.equal((await run?.ended)?.status, 'ok');
  assert.deepEqual([most, working], [1, 0]);
  const ended = ofType(await machine.events(await machine.main()), 'sub_agent').filter(
    ({ state }) => state === 'ended',
  );
  assert.deepEqual(ended.map(({ depth, outcome }) => `${depth} ${outcome}`).sort(), [
    ...['1 done', '1 done', '1 done', '2 done', '2 done', '2 done'],
  ]);
});

test('a sub-agent has only the tools it was given, and its mode is no wider than the one of the workstream', async () => {
  await using machine = await machineWith();
  const seen: string[][] = [];
  delegate(
    machine,
    [
      { prompt: 'narrow', tools: ['look'] },
      { prompt: 'reading', mode: 'read_only' },
    ],
    (request) => {
      seen.push(request.tools.map(({ name }) => name));
      return [calling('touch', {}, 'call_touch')];
    },
  );
  const run = await machine.accept('hello');
  assert.equal((await run?.ended)?.status, 'ok');
  assert.deepEqual(new Set(seen.map((names) => names.join())), new Set(['look', 'task,look,touch']));
  const results = resultsOf(await machine.events(await machine.main()), 'touch');
  assert.deepEqual(results.map(({ outcome }) => outcome).sort(), ['blocked', 'failed']);
});

test('sub-agents are nested four deep, and the deepest have no tool for more', async () => {
  await using machine = await machineWith();
  const tools: (readonly string[])[] = [];
  delegate(machine, [{ prompt: '1' }], (request) => {
    tools.push(request.tools.map(({ name }) => name));
    return [calling('task', { title: 'Below', prompt: `${Number(firstOf(request)) + 1}` })];
  });
  const run = await machine.accept('hello');
  assert.equal((await run?.ended)?.status, 'ok');
  assert.deepEqual(
    tools.map((names) => names.includes('task')),
    [true, true, true, false],
  );
  const agents = ofType(await machine.events(await machine.main()), 'sub_agent');
  assert.equal(Math.max(...agents.map(({ depth }) => depth)), 4);
});

test('a sub-agent that uses up its turns ends at the limit, with its last answer', async () => {
  await using machine = await machineWith();
  machine.puppet.turn(calling('task', { title: 'Long', prompt: 'Look.', max_turns: 2 }));
  machine.puppet.turn(calling('look', { text: '1' }));
  machine.puppet.turn('Half is done.');
  machine.puppet.turn('Over.');
  const run = await machine.accept('hello');
  assert.equal((await run?.ended)?.status, 'ok');
  const [, , , last] = machine.puppet.requests;
  assert.ok(last);
  const { outcome, text } = lastResult(last) as { outcome: string; text: string };
  assert.equal(outcome, 'limit');
  assert.match(text, /^Half is done\./);
});

test('tokens of sub-agents count to the run and the workstream', async () => {
  await using machine = await machineWith();
  delegate(machine, prompts(2), () => [calling('look')]);
  const run = await machine.accept('hello');
  await run?.ended;
  const rows = await machine.store.db.selectFrom('usage').selectAll().execute();
  assert.deepEqual(
    rows.map(({ run_id, turns, input, output, tool_calls }) => [
      run_id === run?.run.runId,
      turns,
      input,
      output,
      tool_calls,
    ]),
    [[true, 6, 420, 180, 4]],
  );
});

test('a sub-agent is trusted as much as its parent, and what it reads taints the parent', async () => {
  const reading: Tool<object> = {
    ...{ name: 'fetch', description: 'Reads a page.', parameters: z.object({}), readOnly: true, safeToRepeat: true },
    prepare: async () => ({
      ...{ kind: 'ready', subject: '', preview: '', approvalLabel: 'fetch', needsApproval: false },
      execute: async () => ({ output: 'a page', outcome: 'done', taint: { kind: 'network', target: 'example.org' } }),
    }),
  };
  await using machine = await wholeGateway({ tools: [taskTool, reading] });
  machine.puppet.turn(calling('task', { title: 'Read', prompt: 'Read it.' }));
  machine.puppet.turn(calling('fetch'));
  machine.puppet.turn('read');
  machine.puppet.turn(calling('task', { title: 'Again', prompt: 'Look.' }, 'call_2'));
  machine.puppet.turn('looked');
  const run = await machine.accept('hello');
  assert.equal((await run?.ended)?.status, 'ok');
  const firsts = await machine.store.db.selectFrom('sub_agent_messages').selectAll().where('seq', '=', 1).execute();
  const trusts = firsts.map(({ body_json }) => JSON.parse(body_json));
  assert.deepEqual(Object.fromEntries(trusts.map(({ content, trusted }) => [content, trusted])), {
    'Read it.': true,
    'Look.': undefined,
  });
  const stored = await machine.store.readMessages(await machine.main(), { after: 0, upTo: 100, limit: 100 });
  assert.deepEqual(
    stored.flatMap(({ json }) => JSON.parse(json ?? '{}').taint ?? []),
    [{ kind: 'network', target: 'example.org' }, { kind: 'message' }],
  );
});

test('calls of a sub-agent that end at the same moment are all stored and counted', async () => {
  await using machine = await machineWith();
  const names = ['one', 'two', 'three', 'four'];
  delegate(machine, prompts(1), () => names.map((text) => calling('look', { text }, `call_${text}`)));
  const run = await machine.accept('hello');
  assert.equal((await run?.ended)?.status, 'ok');
  const wsId = await machine.main();
  const [agent] = (await machine.call('subagent.list', { wsId })).agents;
  assert.deepEqual([agent?.outcome, agent?.tool_calls], ['done', 4]);
  const { messages } = await machine.call('subagent.messages', { wsId, agentId: agent?.agent_id ?? '' });
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  assert.deepEqual(new Set(results), new Set(names.map((text) => `looked ${text}`)));
});

test('a run starts 100 sub-agents at most, also in one turn', async () => {
  await using machine = await machineWith();
  delegate(machine, prompts(102), () => ['done']);
  assert.equal((await (await machine.accept('hello'))?.ended)?.status, 'ok');
  const events = await machine.events(await machine.main());
  const started = new Set(ofType(events, 'sub_agent').map(({ agent_id }) => agent_id));
  const refused = resultsOf(events, 'task').filter(({ output }) => output.includes('it can start no more'));
  assert.deepEqual([started.size, refused.length], [100, 2]);
});
