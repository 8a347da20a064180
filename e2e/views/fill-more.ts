import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { openChecked } from '../support/clients/checked-client.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';
import { guideConversation } from './conversations.ts';
import { ask, HOUR_MS, until } from './fill.ts';
import type { FillStage } from './stage.ts';

const run = promisify(execFile);

/**
 * Adds to the full daemon what only few views show. It comes after the pictures of the others, whose lists it would make longer.
 */
export async function fillMore(stage: FillStage): Promise<void> {
  await addGuide(stage);
  await addChanges(stage);
  await addHarvest(stage);
  await addPlan(stage);
  await addCommand(stage);
  await addTrouble(stage);
  await addCoordinator(stage);
  await addMemory(stage);
  await addPeople(stage);
  await addServers(stage);
  await addVersions(stage);
}

async function addGuide({ ada, daemon, folder }: FillStage): Promise<void> {
  await ada.ask('workstream.import', { conversation: guideConversation(daemon.clock.now()), workdir: folder });
}

/** A repository with a commit and changes since, of which a run made some; a person changed one of its files later. */
async function addChanges({ ada, folder, model, hasGit }: FillStage): Promise<void> {
  const workdir = path.join(folder, 'orchard');
  await mkdir(path.join(workdir, 'src'), { recursive: true });
  await writeFile(path.join(workdir, 'src/trees.js'), "export const trees = ['apple', 'pear'];\n");
  await writeFile(path.join(workdir, 'README.md'), '# Orchard\n');
  const git = (...words: string[]) =>
    run('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.c', '-c', 'commit.gpgsign=false', ...words], {
      cwd: workdir,
    });
  if (hasGit) {
    await git('init', '-q', '-b', 'main');
    await git('add', '.');
    await git('commit', '-qm', 'first');
  }
  const command =
    "printf \"export const trees = ['apple', 'pear', 'quince'];\\n\" > src/trees.js; echo 'Prune in March.' > pruning.md; mkdir -p docs/a-folder-with-a-name/that-is-rather-long; echo map > docs/a-folder-with-a-name/that-is-rather-long/map-of-the-orchard.md";
  model.when('Add a quince', callTools({ name: 'bash', arguments: { command } }), say('The quince is planted.'));
  const { wsId } = await ada.ask('workstream.create', { name: 'orchard', workdir, autoApprove: true });
  await ask(ada, wsId, 'Add a quince.');
  await writeFile(path.join(workdir, 'pruning.md'), 'Prune in February.\n');
}

/** A run with everything that stands above the composer: sub-agents, a background command, a watch, a checklist and messages that wait. */
async function addHarvest({ ada, folder, model, opened }: FillStage): Promise<void> {
  const rest = stall();
  opened.defer(() => rest.release());
  const task = (title: string, prompt: string) => ({
    name: 'task',
    id: `call-${prompt}`,
    arguments: { title, prompt },
  });
  const items = [
    { text: 'Find the jars', status: 'done' },
    { text: 'Count what is ripe, row by row, and write it into the book of the garden', status: 'in_progress' },
    { text: 'Cook' },
  ];
  model.when(
    'Prepare the harvest',
    callTools({ name: 'todo', arguments: { items } }),
    callTools({ name: 'bash', arguments: { command: SERVER, run_in_background: true } }),
    callTools({
      name: 'watch',
      arguments: {
        action: 'create',
        name: 'weather',
        command: 'echo 21 degrees',
        interval: '10m',
        stop_on: 'output == "frost"',
      },
    }),
    callTools(task('Count the apples', 'COUNT-APPLES'), task('Count the pears', 'COUNT-PEARS')),
  );
  model.when('COUNT-APPLES', callTools({ name: 'read_file', arguments: { path: 'README.md' } }), [
    say('In the first row there are **31 apples**.\n\n- 12 are ripe\n- 19 need a week'),
    rest,
  ]);
  model.when('COUNT-PEARS', [rest]);
  const { wsId } = await ada.ask('workstream.create', { name: 'harvest', workdir: folder, autoApprove: true });
  await ada.ask('workstream.send', { wsId, message: 'Prepare the harvest.' });
  await rest.reached;
  for (const message of [
    'Label the jars, too.',
    'Then send me the list of everything that is left over, with the number of jars and the date.',
  ])
    await ada.ask('workstream.send', { wsId, message, queue: true });
}

const SERVER = "echo 'listening on http://localhost:8080'; sleep 600";

const PLAN = `## Goal
The shed holds all tools on one wall.
## Current State
Tools lie on the floor; \`shed.md\` lists 14 of them.
## Plan
1. Measure the wall
2. Draw where each tool hangs
3. Order the hooks
## Risks
The wall may be damp.`;

async function addPlan({ ada, daemon, folder, model }: FillStage): Promise<void> {
  model.when(
    'Tidy the shed',
    callTools({ name: 'plan_agent', arguments: { goal: 'GOAL of the shed' } }),
    say('On it.'),
  );
  model.when('GOAL of the shed', say(PLAN));
  const { wsId } = await ada.ask('workstream.create', { name: 'shed', workdir: folder, autoApprove: true });
  await ada.ask('workstream.send', { wsId, message: 'Tidy the shed.' });
  await until(async () => {
    const { approvals } = await ada.ask('approval.list', {});
    return approvals.some((one) => one.wsId === wsId);
  });
  daemon.clock.jump(HOUR_MS / 60);
}

/** A question about a command that a narrow rule would allow. */
async function addCommand({ ada, folder, model }: FillStage): Promise<void> {
  model.when(
    'Test the pump',
    callTools({ name: 'write_file', arguments: { path: 'pump.md', content: '# Pump\n\nTested today.\n' } }),
    say('Tested.'),
  );
  const { wsId } = await ada.ask('workstream.create', { name: 'pump', workdir: folder });
  await ada.ask('workstream.send', { wsId, message: 'Test the pump.' });
  await until(async () => {
    const { approvals } = await ada.ask('approval.list', {});
    return approvals.some((one) => one.wsId === wsId);
  });
}

/** A message that was not answered, and one that waits for the model. */
async function addTrouble({ ada, folder, model }: FillStage): Promise<void> {
  model.when('Is there frost', fail(400, { message: 'the request has an image, and this model takes none' }));
  model.when('Ask again', fail(429, { retryAfterSecs: 250, message: 'slow down' }));
  const { wsId } = await ada.ask('workstream.create', { name: 'frost', workdir: folder });
  const { runId = '' } = await ada.ask('workstream.send', { wsId, message: 'Is there frost tonight?' });
  await ada.ask('agent.wait', { runId, timeoutMs: 60_000 });
  await ada.ask('workstream.send', { wsId, message: 'Ask again.' });
}

async function addCoordinator({ ada, daemon, folder }: FillStage): Promise<void> {
  const { wsId } = await ada.ask('workstream.create', { name: 'summer', workdir: folder, kind: 'coordinator' });
  for (const name of ['lawn', 'pond with a name that does not fit']) {
    await ada.ask('workstream.create', { name, parentWsId: wsId, workdir: folder });
    daemon.clock.jump(1); // those of the same time have no order
  }
}

/** A memory that waits, because a caller who may not approve had the agent save it. */
async function addMemory({ ada, daemon, folder, model, operator, opened }: FillStage): Promise<void> {
  const { token } = await operator.ask('token.create', { name: 'writer', scope: 'write' });
  const writer = await openChecked(daemon, { token });
  opened.defer(() => writer.socket.terminate());
  const content = 'The key of the greenhouse lies under the third pot.';
  model.when(
    'Keep in mind',
    callTools({ name: 'memory', arguments: { action: 'save', name: 'key-of-the-greenhouse', content } }),
    say('Noted.'),
  );
  const { wsId } = await ada.ask('workstream.create', { name: 'notes', workdir: folder });
  await writer.ask('agent', { sessionKey: wsId, message: 'Keep in mind where the key is.', idempotencyKey: 'keep' });
  await until(async () => (await ada.ask('memory.quarantine.list', {})).memories.length > 0);
}

/** Somebody who may write to the bot, with an answer that arrived and one that did not, and somebody who asks to. */
async function addPeople({ daemon, model, operator, telegram }: FillStage): Promise<void> {
  const friend = telegram.person({ name: 'Mary Somerville', id: 101 });
  // The bot waits a moment for the rest of a message, and between two of its own.
  const tick = () => daemon.clock.advance(100);
  const hears = async (pattern: RegExp) => {
    const find = () => [...friend.chat.messages.values()].find(({ text }) => pattern.test(text ?? ''))?.text;
    await until(async () => find() !== undefined, tick);
    return find() ?? '';
  };
  friend.says('let me in');
  const [code = ''] = /[A-Z0-9]{5}-[A-Z0-9]{5}/.exec(await hears(/[A-Z0-9]{5}-[A-Z0-9]{5}/)) ?? [];
  await operator.ask('channel.pair', { channel: 'telegram', code });
  model.when('How is the basil', say('It needs water.'));
  model.when('And the fern', say('It is fine.'));
  friend.says('How is the basil?');
  await hears(/^It needs water/);
  telegram.faults.add('sendMessage', { kind: 'refuse', description: 'the bot was blocked by the user' }, { chat: 101 });
  friend.says('And the fern?');
  await until(async () => {
    const { parts } = await operator.ask('channel.part.list', {});
    return parts.some(({ state }) => state === 'failed');
  }, tick);
  telegram.person({ name: 'Somebody with a rather long name that nobody knows', id: 666 }).says('hello');
  await until(async () => (await operator.ask('channel.list', {})).channels.some(({ pending }) => pending > 0), tick);
  const quarter = HOUR_MS / 4;
  daemon.clock.jump(quarter - (daemon.clock.now() % quarter)); // it took as long as it took
}

async function addServers({ ada }: FillStage): Promise<void> {
  const server = { transport: 'stdio', command: '/nowhere/notes-server', args: ['--folder', '/srv/notes'] };
  await ada.ask('mcp.create', { name: 'notes', ...server, sandbox: false });
  await ada.ask('mcp.create', { name: 'weather', ...server, enabled: false });
  const { servers } = await ada.ask('mcp.list', {});
  assert.equal(servers.length, 2);
}

/** A skill with versions before its edits, by two people. */
async function addVersions({ ada, operator }: FillStage): Promise<void> {
  const { skills } = await ada.ask('skill.details', {});
  const { skillId = '' } = skills.find(({ name }) => name === 'release-notes') ?? {};
  const content = `Do it as release-notes.

1. Read the commits since the last tag.
2. Name what a user sees, one line each; a line that is longer than a phone is wide is broken where it has to be.`;
  await ada.ask('skill.update', { skillId, content });
  await operator.ask('skill.update', { skillId, description: 'Writes release notes from commits, for people.' });
  await ada.ask('skill.update', { skillId, tags: ['code'], priority: 5 });
}
