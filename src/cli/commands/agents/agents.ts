import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { ListedSubAgent } from '../../../../protocol/methods/conversation/sub-agent.ts';
import type { HistoryMessage } from '../../../../protocol/stream-events.ts';
import { subAgentWords } from '../../../../protocol/text/background-words.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { NotFoundError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { isRunnable, locateWorkstream } from '../../find-workstream.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTree } from './agent-tree.ts';

/** Flags of `list` and `show`. */
export type AgentListFlags = TargetFlags & { json?: boolean; workstream?: string };

interface CommandOf<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

/** The sub-agents of a workstream. */
interface Found {
  wsId: string;
  /** Of the workstream. */
  name: string;
  agents: readonly ListedSubAgent[];
}

/** Prints those that have not ended; of a single workstream, also the others. */
export async function listAgents(command: CommandOf<AgentListFlags>): Promise<void> {
  const { workstream, json } = command.flags;
  const all = await ask(command, async (client) => {
    if (workstream === undefined) return (await findAll(client)).map(running);
    return [await agentsOf(client, { wsId: await locateWorkstream(client, workstream), name: workstream })];
  });
  const found = all.filter(({ agents }) => agents.length > 0);
  if (json) process.stdout.write(`${JSON.stringify(found.flatMap(toRecords), null, 2)}\n`);
  else if (found.length === 0)
    process.stderr.write(workstream === undefined ? 'No sub-agent works.\n' : 'There were no sub-agents.\n');
  else process.stdout.write(found.map(toText).join('\n'));
}

/** Prints what one did. */
export async function showAgent(id: string, command: CommandOf<AgentListFlags>): Promise<void> {
  const { agent, messages } = await ask(command, async (client) => {
    const wsId = await findOne(client, id);
    return client.call('subagent.messages', { wsId, agentId: id });
  });
  if (command.flags.json) process.stdout.write(`${JSON.stringify({ agent, messages }, null, 2)}\n`);
  else {
    const head = `${toSafeText(agent.title)}: ${subAgentWords(agent)}`;
    process.stdout.write(`${[head, ...messages.map(toParagraph)].join('\n\n')}\n`);
  }
}

export async function cancelAgent(id: string, command: CommandOf): Promise<void> {
  const { cancelled, agent } = await ask(command, async (client) => {
    const wsId = await findOne(client, id);
    return client.call('subagent.cancel', { wsId, agentId: id });
  });
  const done = agent.state === 'ended' ? 'Cancelled.\n' : 'It ends as soon as its tool stops.\n';
  process.stderr.write(cancelled ? done : 'It had ended before.\n');
}

async function ask<T>({ flags, around, root }: CommandOf, work: (client: GatewayClient) => Promise<T>): Promise<T> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  return withClient(caller, work);
}

async function agentsOf(client: GatewayClient, { wsId, name }: { wsId: string; name: string }): Promise<Found> {
  const { agents } = await client.call('subagent.list', { wsId });
  return { wsId, name, agents };
}

/** A workstream with a run stays loaded. */
async function findAll(client: GatewayClient): Promise<Found[]> {
  const { workstreams } = await client.call('workstream.list', {});
  const found: Found[] = [];
  for (const row of workstreams.filter(isRunnable)) found.push(await agentsOf(client, row));
  return found;
}

const running = ({ agents, ...where }: Found): Found => ({
  ...where,
  agents: agents.filter(({ state }) => state !== 'ended'),
});

async function findOne(client: GatewayClient, id: string): Promise<string> {
  const found = (await findAll(client)).find(({ agents }) => agents.some(({ agent_id }) => agent_id === id));
  if (!found)
    throw new NotFoundError(`No sub-agent of a loaded workstream has the id ${id}. "headgate agents" lists them.`);
  return found.wsId;
}

const toRecords = ({ wsId, name, agents }: Found) =>
  agents.map((agent) => ({ ws_id: wsId, workstream: name, ...agent }));

const toText = ({ name, agents }: Found): string => `${toSafeText(name)}\n${toTree(agents)}`;

function toParagraph({ role, content, tool_calls: calls, name, outcome }: HistoryMessage): string {
  const text = toSafeText(content ?? '').trimEnd();
  if (role === 'user') return `Task: ${text}`;
  if (role === 'tool') return `${toSafeText(name ?? 'tool')} (${outcome ?? 'unknown'}):\n${text}`;
  const made = (calls ?? []).map((call) => toSafeText(`→ ${call.name} ${call.arguments}`));
  return [...(text === '' ? [] : [text]), ...made].join('\n');
}
