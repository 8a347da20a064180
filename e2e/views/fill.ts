import assert from 'node:assert/strict';
import { openChecked } from '../support/clients/checked-client.ts';
import { callTools, say, stall, useTokens } from '../support/model/scripted-steps.ts';
import { toolsConversation } from './conversations.ts';
import type { FillStage } from './stage.ts';

/** Of everybody in the views. */
export const PASSWORD = 'correct horse';
export const HOUR_MS = 3_600_000;

/** Gives every view of the page something to show. */
export async function fill(stage: FillStage): Promise<void> {
  await addConversations(stage);
  await addQuestions(stage);
  await addRunning(stage);
  await addAgentThings(stage);
  await addJobs(stage);
  await addRules(stage);
  await addNodes(stage);
}

async function addConversations({ ada, daemon, folder, model }: FillStage): Promise<void> {
  await ada.ask('workstream.import', { conversation: toolsConversation(daemon.clock.now()), workdir: folder });
  for (const name of ['release notes', 'a conversation with a name that is far too long for the list beside it'])
    await ada.ask('workstream.create', { name, workdir: folder });
  daemon.clock.jump(3 * HOUR_MS);
  model.when('Sum up', [
    useTokens({ prompt: 41_000, completion: 900, cached: 30_000 }),
    say('Two plants need water today.'),
  ]);
  const { wsId } = await ada.ask('workstream.create', { name: 'daily summary', workdir: folder, model: 'small' });
  await ask(ada, wsId, 'Sum up the garden.');
  daemon.clock.jump(HOUR_MS / 4);
}

/** Sends a message, and waits for its answer. */
export async function ask(client: FillStage['ada'], wsId: string, message: string): Promise<void> {
  const { runId = '' } = await client.ask('workstream.send', { wsId, message });
  const { status, error } = await client.ask('agent.wait', { runId, timeoutMs: 60_000 });
  assert.deepEqual({ status, error }, { status: 'ok', error: undefined }, message);
}

/** Workstreams that wait for a person: for calls of tools, an answer and a plan. */
async function addQuestions({ ada, folder, model, daemon }: FillStage): Promise<void> {
  const edit = {
    path: 'src/watering.js',
    old_string: '  return everyDays - passed;',
    new_string: '  // A plant that is overdue needs water today.\n  return Math.max(0, everyDays - passed);',
  };
  model.when('Mend the watering', [
    say('An overdue plant gets -2 days. I set the lower limit and remove the old build.'),
    callTools(
      { name: 'edit_file', arguments: edit },
      { name: 'bash', arguments: { command: 'rm -rf build && npm test' } },
    ),
  ]);
  model.when('Plan the release', [
    callTools({
      name: 'ask_user',
      arguments: {
        question: 'Which version should the release have?',
        choices: [
          { label: '1.3.0', description: 'The new interval is a feature.' },
          { label: '1.2.1', description: 'It only mends an error.' },
        ],
      },
    }),
  ]);
  for (const [name, message] of [
    ['mend the watering', 'Mend the watering, please.'],
    ['release', 'Plan the release.'],
  ] as const) {
    const { wsId } = await ada.ask('workstream.create', { name, workdir: folder });
    await ada.ask('workstream.send', { wsId, message });
    await until(async () => {
      const { approvals } = await ada.ask('approval.list', {});
      return approvals.some((one) => one.wsId === wsId);
    });
    daemon.clock.jump(HOUR_MS / 6);
  }
}

/** A workstream whose model is silent in the middle of its answer. */
async function addRunning({ ada, folder, model, opened }: FillStage): Promise<void> {
  const rest = stall();
  opened.defer(() => rest.release());
  model.when('Describe every plant', [
    say('The **basil** likes the sun and needs water every three days. The fern'),
    rest,
  ]);
  const { wsId } = await ada.ask('workstream.create', { name: 'plants', workdir: folder });
  await ada.ask('workstream.send', { wsId, message: 'Describe every plant.' });
  await rest.reached;
}

/** Looks again until it is so; the daemon is in this process and has real sockets. */
export async function until(
  isSo: () => Promise<boolean>,
  meanwhile: () => Promise<unknown> = () => new Promise(setImmediate),
): Promise<void> {
  for (let looks = 0; looks < 500; looks += 1) {
    if (await isSo()) return;
    await meanwhile();
  }
  assert.fail('it did not become so');
}

async function addAgentThings({ ada }: FillStage): Promise<void> {
  const memories = {
    'indent-with-tabs': 'Tabs, not spaces.\n\nAlso in Markdown code blocks.',
    'water-in-the-morning': 'The garden is watered between six and eight, because the pump is loud.',
  };
  for (const [name, content] of Object.entries(memories))
    await ada.ask('memory.save', { name, content, description: 'How this garden works' });
  for (const [name, description, enabled] of [
    ['review', 'Reads changes and names what is wrong, the most important first.', true],
    ['release-notes', 'Writes release notes from commits.', true],
    ['tidy', 'Removes files that nothing uses.', false],
  ] as const)
    await ada.ask('skill.create', {
      ...{ name, description, enabled, content: `Do it as ${name}.`, category: 'general', tags: ['code', 'files'] },
    });
  await ada.ask('template.create', { name: 'brief', content: 'Be brief.', category: 'general' });
}

async function addJobs({ ada, daemon, model }: FillStage): Promise<void> {
  const base = { sessionTarget: 'isolated', wakeMode: 'next-heartbeat' } as const;
  model.when('Water the plants', say('Watered **basil** and fern.'));
  const ids: string[] = [];
  for (const [name, schedule, enabled] of [
    ['morning round', { kind: 'cron', expr: '30 7 * * 1-5', tz: 'Europe/Berlin' }, true],
    ['check the pump', { kind: 'every', everyMs: 6 * HOUR_MS }, true],
    ['weekly report', { kind: 'cron', expr: '0 17 * * 5', tz: 'UTC' }, false],
  ] as const) {
    const payload = { kind: 'agentTurn', message: `Water the plants: ${name}` } as const;
    const { id } = await ada.ask('cron.add', { ...base, name, schedule, enabled, payload });
    ids.push(id);
  }
  for (const id of ids.slice(0, 1)) await ada.ask('cron.run', { id, mode: 'force' });
  daemon.clock.jump(HOUR_MS / 6);
}

async function addRules({ ada }: FillStage): Promise<void> {
  await ada.ask('rule.create', {
    action: 'allow',
    match: { program: 'npm', args: ['test'] },
    folder: '/home/ada/garden',
  });
  await ada.ask('rule.create', { action: 'deny', match: { host: 'example.org' }, expiresInMs: 24 * HOUR_MS });
  await ada.ask('policy.create', { name: 'no pushes', toolPattern: 'node*', action: 'deny', priority: 10 });
  await ada.ask('role.create', { name: 'auditor', displayName: 'Auditor', permissions: ['read', 'admin.audit'] });
}

/** Two machines that are paired, and one that asks; the last stays connected. */
async function addNodes({ ada, daemon, opened }: FillStage): Promise<void> {
  for (const [nodeId, displayName] of [
    ['8f14e45fceea167a5a36dedd4bea2541', 'Build box'],
    ['8f14e45fceea167a5a36dedd4bea2542', 'Greenhouse'],
    ['8f14e45fceea167a5a36dedd4bea2543', 'Laptop of Grace'],
  ] as const) {
    // Not the client of nodes, which would miss the signs of life of a daemon whose clock stands still.
    const node = await openChecked(daemon, {
      ...{ token: '', client: { name: `node ${displayName}`, mode: 'node', instanceId: nodeId } },
    });
    const commands = ['system.run', 'file.read', 'file.write'];
    const { request } = await node.ask('node.pair.request', {
      nodeId,
      displayName,
      platform: 'linux',
      version: '1.2.0',
      commands,
    });
    if (displayName.startsWith('Laptop')) return void opened.defer(() => node.socket.terminate());
    await ada.ask('node.pair.approve', { requestId: request.requestId });
    node.socket.terminate();
  }
}
