import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';

export type McpFlags = TargetFlags & { json?: boolean };

/** A command, with what it needs to reach the daemon. */
export interface McpCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

/** Prints each server with its state, and below the table why servers cannot be used. */
export async function listServers(command: McpCommand<McpFlags>): Promise<void> {
  const servers = await ask(command, serversOf);
  if (command.flags.json) return printJson(servers);
  if (servers.length === 0) {
    process.stderr.write('No tool servers. Add them to mcp.servers in config.json.\n');
    return;
  }
  const rows = servers.map(({ name, state, tools, command: program, args, url }) =>
    [name, state, String(tools.filter(({ isGone }) => !isGone).length), url || [program, ...args].join(' ')].map(
      (text) => toSafeText(text),
    ),
  );
  process.stdout.write(toTextTable([['NAME', 'STATE', 'TOOLS', 'COMMAND OR ADDRESS'], ...rows]));
  for (const server of servers) for (const line of linesAbout(server)) process.stdout.write(`${toSafeText(line)}\n`);
}

function linesAbout({ name, problem, notes, tools }: McpServer): string[] {
  const changed = tools.filter((tool) => tool.changed);
  return [
    ...(problem === undefined ? [] : [`${name} ${problem}`]),
    ...notes.map((note) => `${name}: ${note}`),
    ...(changed.length === 0
      ? []
      : [`${name} describes ${changed.length} of its tools in another way than before: headgate mcp tools ${name}`]),
  ];
}

/** Prints the tools of a server. Of a changed one, both descriptions. */
export async function listTools(name: string, command: McpCommand<McpFlags>): Promise<void> {
  const { tools } = await ask(command, async (client) => findServer(await serversOf(client), name));
  if (command.flags.json) return printJson(tools);
  for (const tool of tools) process.stdout.write(`${toSafeText(linesOf(tool).join('\n'))}\n`);
}

function linesOf({ name, description, inputSchema, changed, isGone }: McpServer['tools'][number]): string[] {
  const state = isGone ? ' (the server has it no longer)' : '';
  return [
    `${name}${state}`,
    `  ${description}`,
    ...(changed
      ? [
          `  arguments: ${inputSchema}`,
          `  now described as: ${changed.description}`,
          `  arguments now: ${changed.inputSchema}`,
        ]
      : []),
  ];
}

export async function refreshServer(name: string, command: McpCommand): Promise<void> {
  const server = await ask(command, (client) => client.call('mcp.refresh', { name }));
  process.stderr.write(
    `${toSafeText([`${name} has ${server.tools.length} tools.`, ...linesAbout(server)].join('\n'))}\n`,
  );
}

export async function acceptTools(which: { name: string; tool?: string }, command: McpCommand): Promise<void> {
  await ask(command, (client) => client.call('mcp.accept', which));
  process.stderr.write('Accepted. Conversations that have begun read of it in their next turn.\n');
}

const serversOf = async (client: GatewayClient): Promise<McpServer[]> => (await client.call('mcp.list', {})).servers;

function findServer(servers: readonly McpServer[], name: string): McpServer {
  const found = servers.find((server) => server.name === name);
  if (!found) throw new UsageError(`No tool server is called ${name}. "headgate mcp" lists them.`);
  return found;
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Asks the daemon of the command. */
export async function ask<T>(
  { flags, around, root }: McpCommand,
  work: (client: GatewayClient) => Promise<T>,
): Promise<T> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  return withClient(caller, work);
}
