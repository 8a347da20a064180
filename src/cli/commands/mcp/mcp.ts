import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { UsageError } from '../../../start-error.ts';
import type { TargetFlags } from '../../connect.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';
import { ask, findServer, type McpCommand, type McpFlags, printJson, serversOf } from './mcp-call.ts';

/** Prints each server with its state, and below the table why servers cannot be used. */
export async function listServers(command: McpCommand<McpFlags>): Promise<void> {
  const servers = await ask(command, serversOf);
  if (command.flags.json) return printJson(servers);
  if (servers.length === 0) {
    process.stderr.write(
      'No tool servers. Add one with: headgate mcp add NAME -- COMMAND, or in mcp.servers of config.json.\n',
    );
    return;
  }
  const rows = servers.map(({ name, source, state, tools, command: program, args, url }) =>
    [
      name,
      source,
      state,
      String(tools.filter(({ isGone }) => !isGone).length),
      url || [program, ...args].join(' '),
    ].map((text) => toSafeText(text)),
  );
  process.stdout.write(toTextTable([['NAME', 'FROM', 'STATE', 'TOOLS', 'COMMAND OR ADDRESS'], ...rows]));
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
          `  sha256 of the change: ${changed.digest}`,
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

/** With a digest, nothing but the change that the person has seen. */
export async function acceptTools(
  which: { name: string; tool?: string },
  command: McpCommand<TargetFlags & { digest?: string }>,
): Promise<void> {
  const { tool } = which;
  const { digest } = command.flags;
  if (digest !== undefined && tool === undefined) throw new UsageError('--digest is for one tool. Name it, too.');
  const digests = tool !== undefined && digest !== undefined ? { digests: { [tool]: digest } } : {};
  await ask(command, (client) => client.call('mcp.accept', { ...which, ...digests }));
  process.stderr.write('Accepted. Conversations that have begun read of it in their next turn.\n');
}
