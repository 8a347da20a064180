import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { BackgroundCommand } from '../../../../protocol/events/background-command.ts';
import { commandName, endWords, spanWords } from '../../../../protocol/text/background-words.ts';
import { systemClock } from '../../../clock.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { NotFoundError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { isRunnable, locateWorkstream } from '../../find-workstream.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';

/** Flags of `list`. */
export type ListFlags = TargetFlags & { json?: boolean; workstream?: string };

interface CommandOf<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

interface Found {
  wsId: string;
  /** The name of the workstream. */
  name: string;
  command: BackgroundCommand;
}

/** Prints what runs; of a single workstream, also what has ended. */
export async function listCommands(command: CommandOf<ListFlags>): Promise<void> {
  const { workstream, json } = command.flags;
  const all = await ask(command, async (client) => {
    if (workstream === undefined) return findAll(client);
    const wsId = await locateWorkstream(client, workstream);
    return commandsOf(client, { wsId, name: workstream });
  });
  const shown = workstream === undefined ? all.filter(({ command: { state } }) => state === 'running') : all;
  if (json) process.stdout.write(`${JSON.stringify(shown.map(toRecord), null, 2)}\n`);
  else if (shown.length === 0) process.stderr.write('No command runs in the background.\n');
  else process.stdout.write(toTable(shown));
}

/** Prints the end of the output as it was printed, but without anything that controls a terminal. */
export async function printOutput(id: string, command: CommandOf): Promise<void> {
  const { text } = await ask(command, async (client) => {
    const { wsId } = await findOne(client, id);
    return client.call('background.output', { wsId, commandId: id });
  });
  process.stdout.write(toSafeText(text));
}

export async function killCommand(id: string, command: CommandOf): Promise<void> {
  const { killed } = await ask(command, async (client) => {
    const { wsId } = await findOne(client, id);
    return client.call('background.kill', { wsId, commandId: id });
  });
  process.stderr.write(killed ? 'Ended.\n' : 'It had ended before.\n');
}

async function ask<T>({ flags, around, root }: CommandOf, work: (client: GatewayClient) => Promise<T>): Promise<T> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  return withClient(caller, work);
}

async function commandsOf(client: GatewayClient, { wsId, name }: { wsId: string; name: string }): Promise<Found[]> {
  const { commands } = await client.call('background.list', { wsId });
  return commands.map((command) => ({ wsId, name, command }));
}

/** A workstream with a running command stays loaded, so that the loaded ones have all that run. */
async function findAll(client: GatewayClient): Promise<Found[]> {
  const { workstreams } = await client.call('workstream.list', {});
  const found: Found[] = [];
  for (const row of workstreams.filter(isRunnable)) found.push(...(await commandsOf(client, row)));
  return found;
}

async function findOne(client: GatewayClient, id: string): Promise<Found> {
  const found = (await findAll(client)).find(({ command }) => command.command_id === id);
  if (!found) throw new NotFoundError(`No background command has the id ${id}. "headgate background" lists them.`);
  return found;
}

const toRecord = ({ wsId, name, command }: Found) => ({ ws_id: wsId, workstream: name, ...command });

const toTable = (commands: readonly Found[]): string =>
  toTextTable([
    ['ID', 'WORKSTREAM', 'STATE', 'COMMAND'],
    ...commands.map(({ name, command }) =>
      [command.command_id, name, toState(command), commandName(command.command)].map((text) => toSafeText(text)),
    ),
  ]);

function toState(command: BackgroundCommand): string {
  const span = spanWords((command.ended_ms ?? systemClock.now()) - command.started_ms);
  return command.state === 'running' ? `running for ${span}` : `${endWords(command)}, after ${span}`;
}
