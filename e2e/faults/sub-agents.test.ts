import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { commandLinesWith } from '../../src/testing/command-lines.ts';
import { needs } from '../../src/testing/needs.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { allowedMs, pause } from '../support/deadline.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const sandboxed = await needs('bubblewrap');
const { model, daemon } = await openStage();

/** A sleep time that nothing else on this machine uses, to identify its processes. */
const NAP = `62.${process.pid}`;
/** How many sub-agents each one starts, from the top. */
const BRANCHES = [2, 2, 2, 5];
const LEAVES = 40;
const AT_ONCE = 16;

test('a cancel ends a tree of sub-agents with 40 leaves, and its receipt lists what ran', sandboxed, async () => {
  await writeFile(path.join(daemon.home, 'config.json'), JSON.stringify({ agents: { parallel: AT_ONCE } }));
  await daemon.restart();
  for (const [depth, count] of BRANCHES.entries()) {
    const below = Array.from({ length: count }, (_, index) => ({
      name: 'task',
      arguments: { title: `Part ${index}`, prompt: `level ${depth + 1}` },
    }));
    model.when(`level ${depth}`, callTools(...below), say('done'));
  }
  model.when('level 4', callTools({ name: 'bash', arguments: { command: `sleep ${NAP}` } }), say('slept'));
  await using talk = await openConversation(daemon);
  const question = await talk.ask('level 0');
  const { client, wsId } = talk;
  const agentsOf = async () => (await client.call('subagent.list', { wsId })).agents;
  while ((await agentsOf()).filter(({ depth }) => depth === 4).length < LEAVES) await pause(50);
  // As many leaves sleep as may work at once; each has a process of its own.
  while ((await commandLinesWith(NAP)).filter(({ words }) => words.startsWith('sleep ')).length < AT_ONCE)
    await pause(50);
  const started = performance.now();
  const { dropped } = await client.call('workstream.cancel', { wsId });
  const [end] = await Promise.allSettled([question.answer]);
  const took = performance.now() - started;
  assert.equal(end.status, 'rejected'); // cancelled
  assert.deepEqual(await commandLinesWith(NAP), [], 'no process is left');
  assert.equal(dropped.stoppedTools.filter((name) => name === 'bash').length, AT_ONCE);
  const agents = await agentsOf();
  assert.equal(dropped.subAgents, agents.length);
  assert.deepEqual(new Set(agents.map(({ state, outcome }) => `${state} ${outcome}`)), new Set(['ended cancelled']));
  assert.ok(took < allowedMs(2_000), `${Math.round(took)} ms`);
});

test('One sub-agent must be listed, read and cancelled over HTTP and by headgate agents, while the others go on', async () => {
  await using talk = await openConversation(daemon, { autoApprove: true, name: 'with parts' });
  const { wsId } = talk;
  const [slow, quick] = ['slow', 'quick'].map((part) => ({
    ...{ name: 'task', id: `call_${part}` },
    arguments: { title: `The ${part} one`, prompt: `the ${part} part` },
  }));
  if (!slow || !quick) throw new Error('no parts');
  model.when('the slow part', [say('I wait.'), callTools({ name: 'bash', arguments: { command: `sleep 1${NAP}` } })]);
  model.when('the quick part', say('It is quick.'));
  model.when('in two parts', callTools(slow, quick), say('One part is done.'));
  const question = await talk.ask('in two parts');
  const { agent_id: id } = await talk.until(
    'sub_agent',
    ({ title, tool_calls }) => title === 'The slow one' && tool_calls === 1,
  );
  const agents = (...words: string[]) => runHeadgate(['agents', ...words], { HEADGATE_HOME: daemon.home });
  assert.match(
    (await agents()).stdout,
    new RegExp(`^with parts\n {2}${id} {2}The slow one: working, 1 turn, 1 call\n {4}I wait\\.`),
  );
  assert.match((await agents('show', id)).stdout, /Task: the slow part\n\nI wait\.\n→ bash/);
  const route = `/v1/api/workstreams/${wsId}/agents`;
  const cancelled = await daemon.post(`${route}/${id}/cancel`, {});
  assert.deepEqual(
    [cancelled.status, cancelled.body.cancelled, cancelled.body.agent.outcome],
    [200, true, 'cancelled'],
  );
  assert.deepEqual(await commandLinesWith(`sleep 1${NAP}`), []);
  assert.equal((await agents('cancel', id)).stderr, 'It had ended before.\n');
  await talk.ended(question);
  const list = await daemon.get(route);
  assert.deepEqual(
    Object.fromEntries(
      list.body.agents.map((one: Record<string, unknown>) => [one.title, [one.outcome, one.last_output]]),
    ),
    { 'The slow one': ['cancelled', 'I wait.\n\n[cancelled]'], 'The quick one': ['done', 'It is quick.'] },
  );
  const { status, body } = await daemon.get(`${route}/${id}/messages`);
  assert.deepEqual([status, body.agent.agent_id, body.messages[0].content], [200, id, 'the slow part']);
  assert.equal((await daemon.get(`${route}/agt_other/messages`)).status, 404);
  assert.match((await agents('show', 'agt_other')).stderr, /No sub-agent of a loaded workstream has the id agt_other/);
});
