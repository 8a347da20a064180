import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { EXIT } from '../../../exit-codes.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { NotFoundError, UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { locateWorkstream } from '../../find-workstream.ts';
import { toNewWorkstream } from '../../new-workstream.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';

export type CoordinatorFlags = TargetFlags & { json?: boolean };
/** Flags of `create`. */
export type CreateFlags = TargetFlags & { message?: string; parent?: string; workdir?: string; model?: string };
/** Flags of `close`. */
export type CloseFlags = TargetFlags & { reason?: string };

interface CommandOf<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

/** Prints the coordinators that are not closed. */
export async function listCoordinators(command: CommandOf<CoordinatorFlags>): Promise<void> {
  const { coordinators } = await ask(command, (client) => client.call('coordinator.list', {}));
  if (command.flags.json) return printJson(coordinators);
  if (coordinators.length === 0) return void process.stderr.write('There are no coordinators.\n');
  printTable(
    ['ID', 'NAME', 'STATE', 'OPEN', 'TRUSTED', 'REVOKED TOOLS'],
    coordinators.map(({ wsId, name, state, openChildren, trustSend, revokedTools }) => [
      ...[wsId, name, state, String(openChildren), trustSend ? 'yes' : 'no', revokedTools.join(', ')],
    ]),
  );
}

export async function createCoordinator(name: string | undefined, command: CommandOf<CreateFlags>): Promise<void> {
  const { message, parent, workdir, model } = command.flags;
  const { wsId } = await ask(command, async (client) =>
    client.call('workstream.create', {
      ...toNewWorkstream({ ws: name, workdir, model }, command.around),
      kind: 'coordinator',
      ...(message !== undefined && { initialMessage: message }),
      ...(parent !== undefined && { parentWsId: await locateWorkstream(client, parent) }),
    }),
  );
  process.stdout.write(`${wsId}\n`);
}

export async function listChildren(name: string, command: CommandOf<CoordinatorFlags>): Promise<void> {
  const { items, truncated } = await askAbout(name, command, (client, wsId) =>
    client.call('coordinator.children', { wsId, limit: MOST_CHILDREN }),
  );
  if (command.flags.json) return printJson(items);
  if (items.length === 0) return void process.stderr.write('It has made no workstreams.\n');
  printTable(
    ['ID', 'NAME', 'STATE', 'KIND'],
    items.map(({ wsId, name: title, state, isOpen, kind }) => [wsId, title, isOpen ? state : 'closed', kind]),
  );
  if (truncated) process.stderr.write(`Only the first ${MOST_CHILDREN} are shown.\n`);
}

const MOST_CHILDREN = 500;

export async function listTasks(name: string, command: CommandOf<CoordinatorFlags>): Promise<void> {
  const { tasks } = await askAbout(name, command, (client, wsId) => client.call('coordinator.tasks', { wsId }));
  if (command.flags.json) return printJson(tasks);
  if (tasks.length === 0) return void process.stderr.write('It has no tasks.\n');
  printTable(
    ['ID', 'STATUS', 'TASK', 'NOTE'],
    tasks.map(({ id, status, title, note }) => [id, status, title, note]),
  );
}

export async function showMetrics(name: string, command: CommandOf<CoordinatorFlags>): Promise<void> {
  const metrics = await askAbout(name, command, (client, wsId) => client.call('coordinator.metrics', { wsId }));
  if (command.flags.json) return printJson(metrics);
  const states = Object.entries(metrics.childStates).map(([state, count]) => `${count} ${state}`);
  const missing = Math.round(metrics.judgeFallbackRate * metrics.verdictSample);
  printTable(
    ['FIGURE', 'VALUE'],
    [
      ['workstreams', `${metrics.spawnsTotal}${states.length === 0 ? '' : ` (${states.join(', ')})`}`],
      ['made in the last hour', String(metrics.spawnsLastHour)],
      ['waits that were met', String(metrics.waitCompletions)],
      ['waits that timed out', String(metrics.waitTimeouts)],
      ['average wait', `${(metrics.waitAvgElapsedMs / 1_000).toFixed(1)} s`],
      ['latest verdicts about its calls', String(metrics.verdictSample)],
      ['of these, without the judge model', String(missing)],
    ],
  );
}

export async function trust(name: string, send: boolean, command: CommandOf): Promise<void> {
  await askAbout(name, command, (client, wsId) => client.call('coordinator.trust', { wsId, send }));
  process.stderr.write(send ? 'Its messages to workstreams below it no longer ask.\n' : 'Its messages ask again.\n');
}

export async function restrict(name: string, tools: readonly string[], command: CommandOf): Promise<void> {
  const { revokedTools } = await askAbout(name, command, (client, wsId) =>
    client.call('coordinator.restrict', { wsId, revoke: [...tools] }),
  );
  process.stderr.write(`${toSafeText(`It can no longer use ${revokedTools.join(', ')}.`)}\n`);
}

export async function stop(name: string, command: CommandOf): Promise<void> {
  const { cancelled, ...others } = await askAbout(name, command, (client, wsId) =>
    client.call('coordinator.stop', { wsId }),
  );
  report(`Stopped it and ${cancelled.length} of its workstreams; ${others.skipped.length} did nothing`, others.failed);
}

export async function closeChildren(name: string, command: CommandOf<CloseFlags>): Promise<void> {
  const { reason } = command.flags;
  const { closed, ...others } = await askAbout(name, command, (client, wsId) =>
    client.call('coordinator.close', { wsId, ...(reason !== undefined && { reason }) }),
  );
  report(`Closed ${closed.length} workstreams; ${others.skipped.length} were closed before`, others.failed);
}

function report(words: string, failed: readonly string[]): void {
  const rest = failed.length === 0 ? '' : ` These could not be: ${failed.join(', ')}.`;
  process.stderr.write(`${words}.${rest}\n`);
  if (failed.length > 0) process.exitCode = EXIT.failed;
}

/** By its name, its id or the beginning of that. */
async function askAbout<T, F extends TargetFlags>(
  name: string,
  command: CommandOf<F>,
  work: (client: GatewayClient, wsId: string) => Promise<T>,
): Promise<T> {
  return ask(command, async (client) => {
    const { coordinators } = await client.call('coordinator.list', {});
    const named = coordinators.filter((one) => one.name === name || one.wsId === name);
    const found =
      named.length > 0 ? named : coordinators.filter(({ wsId }) => name.length > 2 && wsId.startsWith(name));
    const [only, ...others] = found;
    if (!only) throw new NotFoundError(`No coordinator is called ${name}. "headgate coordinator" lists them.`);
    if (others.length > 0)
      throw new UsageError(`Several coordinators are called ${name}: ${found.map(({ wsId }) => wsId).join(', ')}.`);
    return work(client, only.wsId);
  });
}

function printTable(head: string[], rows: string[][]): void {
  process.stdout.write(toTextTable([head, ...rows.map((row) => row.map((text) => toSafeText(text)))]));
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

async function ask<T, F extends TargetFlags>(
  { flags, around, root }: CommandOf<F>,
  work: (client: GatewayClient) => Promise<T>,
): Promise<T> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  return withClient(caller, work);
}
