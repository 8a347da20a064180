import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { CONTRACTS } from '../../../protocol/index.ts';
import type { McpServer } from '../../../protocol/methods/admin/mcp.ts';
import { toVisibleText } from '../../../protocol/text/visible-text.ts';
import type { Command, CommandCaller } from '../commands/command.ts';
import type { Workstream } from '../workstreams/workstream.ts';

type Calling = Pick<CommandCaller['call'], 'perform'>;

/** The server after `refresh`, or all of them with `''`; undefined: the command only lists. */
export function refreshedBy(argument: string): string | undefined {
  const [word, name = ''] = /^refresh(?:\s+(\S+))?$/i.exec(argument) ?? [];
  return word && name;
}

/** `/mcp`: lists the tool servers, or asks them for their tools again. The answer goes to `say`. */
export const createMcpCommand =
  (say: (to: Workstream, text: string) => Promise<void>): Command['run'] =>
  async (argument, workstream, { call }) => {
    const named = refreshedBy(argument);
    if (argument !== '' && named === undefined) throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('mcp')}`);
    const text = named === undefined ? toList(await serversOf(call)) : await refreshed(named, call);
    await say(workstream, toVisibleText(text));
  };

async function refreshed(named: string, call: Calling): Promise<string> {
  const isAsked = ({ name, state }: McpServer) => (named === '' ? state !== 'disabled' : name === named);
  const asked = (await serversOf(call)).filter(isAsked);
  if (named !== '' && asked.length === 0)
    throw new GatewayError('NOT_FOUND', `No tool server is called ${named}. /mcp lists them.`);
  const problems = new Map(await Promise.all(asked.map(({ name }) => refresh(name, call))));
  const problem = named === '' ? undefined : problems.get(named);
  if (problem !== undefined) throw new GatewayError('INVALID_REQUEST', problem);
  const now = (await serversOf(call)).filter(isAsked);
  // A server whose account is missing has not failed, so its state does not tell.
  const others = now.flatMap((server) => (server.problem === undefined ? (problems.get(server.name) ?? []) : []));
  return [toLines(now), ...others].join('\n');
}

/** As `mcp.list` shows them: without secrets. */
const serversOf = async (call: Calling): Promise<McpServer[]> =>
  CONTRACTS['mcp.list'].result().parse(await call.perform('mcp.list', {})).servers;

/** With why it cannot be used. */
async function refresh(name: string, call: Calling): Promise<[name: string, problem: string | undefined]> {
  try {
    await call.perform('mcp.refresh', { name });
    return [name, undefined];
  } catch (error) {
    if (error instanceof GatewayError) return [name, error.message];
    throw error;
  }
}

const HINT = '/mcp refresh asks them for their tools again, /mcp refresh SERVER only one.';

const toLines = (servers: readonly McpServer[]): string =>
  servers.length === 0 ? 'No tool server is enabled.' : servers.map(toLine).join('\n');

const toList = (servers: readonly McpServer[]): string =>
  servers.length === 0
    ? 'There are no tool servers. "headgate mcp add" and the page add them.'
    : `${toLines(servers)}\n${HINT}`;

function toLine({ name, state, problem, tools }: McpServer): string {
  const present = tools.filter(({ isGone }) => !isGone);
  const changed = present.filter((tool) => tool.changed).length;
  const count = present.length === 1 ? '1 tool' : `${present.length} tools`;
  return [
    `${name}: ${state}${problem === undefined ? '' : `, ${problem}`}`,
    ...(state === 'disabled' ? [] : [count]),
    ...(changed === 0 ? [] : [`${changed} changed since they were accepted`]),
  ].join(', ');
}
