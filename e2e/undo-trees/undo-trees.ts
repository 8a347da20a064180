import { lstatSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { systemClock } from '../../src/clock.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { within } from '../support/deadline.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say as says } from '../support/model/scripted-steps.ts';
import { type Random, randomCommand, seeded } from './random-turn.ts';
import { differencesOf, IGNORED, readTree } from './tree-on-disk.ts';

const PATIENCE_MS = 60_000;

interface Rounds {
  turns: number;
  seed: number;
  say(line: string): void;
}

interface UndoTrees {
  turns: number;
  kills: number;
  /** How many turns changed something that was taken back. */
  undone: number;
  findings: string[];
}

interface World {
  daemon: DaemonUnderTest;
  random: Random;
  wsId: string;
  folder: string;
  client: GatewayClient;
  found: UndoTrees;
}

/**
 * Random turns that change files, taken back and sometimes brought back, while the daemon is killed at random moments. The
 * files must be the same as before the turn, and after it, except those that Git ignores.
 */
export async function undoRandomTurns({ turns, seed, say }: Rounds): Promise<UndoTrees> {
  await using model = await startScriptedModel();
  await using daemon = await startDaemon({ model: model.url });
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'headgate-trees-')));
  try {
    await writeFile(path.join(folder, '.gitignore'), IGNORED);
    const client = await daemon.client();
    const { wsId } = await client.call('workstream.create', { workdir: folder, autoApprove: true });
    const random = seeded(seed);
    const found: UndoTrees = { turns: 0, kills: 0, undone: 0, findings: [] };
    const world: World = { daemon, random, wsId, folder, client, found };
    for (; found.turns < turns && found.findings.length === 0; found.turns += 1) {
      const tag = `turn-${found.turns}`;
      const command = randomCommand(random);
      model.when(tag, callTools({ name: 'bash', arguments: { command } }), says('done'));
      const wrong = await playTurn(world, tag);
      found.findings.push(...wrong.map((what) => `${tag} of seed ${seed}: ${what}`));
      if (found.turns % 20 === 19) say(`${found.turns + 1} turns, ${found.kills} kills`);
    }
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function playTurn(world: World, tag: string): Promise<string[]> {
  const { folder, random, wsId, found } = world;
  const before = readTree(folder);
  const runId = await killedSometimes(world, 400, (client) => run(client, wsId, tag));
  const after = readTree(folder);
  const { checkpoints } = await world.client.call('checkpoint.list', { wsId });
  const isKnown = checkpoints.some((each) => each.runId === runId);
  const changed = differencesOf(before, after);
  if (!isKnown) return changed.length === 0 ? [] : [`a change without a checkpoint: ${changed.join('; ')}`];
  found.undone += 1;
  const change = (direction: 'undo' | 'redo') =>
    killedSometimes(world, 60, (client) =>
      client.call(`checkpoint.${direction}`, { wsId, runId, idempotencyKey: `${direction} ${tag}` }),
    );
  await change('undo');
  const undone = differencesOf(before, readTree(folder)).filter((each) => !isBlocked(folder, each));
  if (undone.length > 0 || random() < 0.5) return undone.map((each) => `after the undo, ${each}`);
  await change('redo');
  return differencesOf(after, readTree(folder)).map((each) => `after the redo, ${each}`);
}

/** Ignored files that the run put into a folder in place of a file stay, so the undo names that file and leaves it. */
const isBlocked = (folder: string, difference: string): boolean =>
  lstatSync(path.join(folder, difference.split(': expected')[0] ?? ''), { throwIfNoEntry: false })?.isDirectory() ??
  false;

/** Sends a message, or the same one again, and waits for the end of its run; a call whose outcome is unknown is not repeated. */
async function run(client: GatewayClient, wsId: string, tag: string): Promise<string> {
  const { runId = '' } = await client.call('workstream.send', { wsId, message: tag, idempotencyKey: tag });
  for (;;) {
    const { status } = await client.call('agent.wait', { runId, timeoutMs: 500 });
    if (status !== 'timeout') return runId;
    const { approvals } = await client.call('approval.list', { wsId });
    for (const { approvalId } of approvals) await client.call('approval.resolve', { approvalId, approved: false });
  }
}

/** Does something that can be repeated; in two of three cases the daemon is killed meanwhile, and it is repeated. */
async function killedSometimes<T>(world: World, withinMs: number, work: (client: GatewayClient) => Promise<T>) {
  const { daemon, random, found } = world;
  const working = work(world.client);
  if (random() < 1 / 3) return within(working, PATIENCE_MS, () => 'an end');
  working.catch(() => undefined); // the connection is lost
  await systemClock.sleep(random() * withinMs, new AbortController().signal);
  await daemon.kill9();
  found.kills += 1;
  await daemon.restart();
  world.client = await daemon.client();
  return within(work(world.client), PATIENCE_MS, () => 'an end after the kill');
}
