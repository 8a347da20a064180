import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { commandLinesWith } from '../../src/testing/command-lines.ts';
import { needs } from '../../src/testing/needs.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause } from '../support/deadline.ts';
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
  assert.ok(took < 2_000, `${Math.round(took)} ms`);
});
