import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SubAgent } from '../../../protocol/events/sub-agent.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { FileAgent } from '../../../protocol/methods/conversation/file-agent.ts';
import type { FileMessage } from '../../../protocol/methods/conversation/file-message.ts';
import type { Ids } from '../../ids.ts';
import {
  insertAgent,
  insertAgentMessage,
  readAgentMessages,
  readAllAgents,
  type StoredAgent,
} from '../agents/sub-agent-rows.ts';
import { isShown } from '../history/history.ts';
import { lastComplete } from '../history/last-complete.ts';
import type { StoredMessage } from '../history/messages.ts';
import type { Statement, Store } from '../store/store.ts';
import { damaged } from '../store/store-fault.ts';
import { toFileMessage, toMessage } from './file-message.ts';

/*
 * Sub-agents as an exported conversation has them (decision 50). The import keeps them as a record: they have ended, and no run of the new
 * workstream knows them.
 */

type Readable = Pick<Store, 'db' | 'reportDamage'>;

/** A sub-agent that goes into the file. */
export interface ExportedAgent {
  state: SubAgent;
  /** Of its messages, as a file has them. */
  chars: number;
  count: number;
}

/** The sub-agents of a workstream that have ended. Throws for a damaged message, because its copy would look intact. */
export async function measureAgents(store: Readable, wsId: string): Promise<ExportedAgent[]> {
  const measured: ExportedAgent[] = [];
  for (const { state } of await readAllAgents(store, wsId)) {
    if (state.state !== 'ended') continue;
    const messages = await readIntact(store, state);
    measured.push({ state, chars: JSON.stringify(messages).length, count: messages.length });
  }
  return measured;
}

/** Without messages of the daemon, and without calls that were left open. */
export async function readIntact(store: Readable, { agent_id: agentId }: SubAgent): Promise<StoredMessage[]> {
  const stored = await readAgentMessages(store, agentId);
  await nextTurn(); // other work must not wait for all of them
  if (stored.some(({ isDamaged }) => isDamaged)) throw damaged(`a message of sub-agent ${agentId}`);
  const upTo = lastComplete(stored) ?? 0;
  return stored.filter((message) => message.seq <= upTo && isShown(message));
}

/** A sub-agent with its place in the file. */
interface PlacedAgent extends ExportedAgent {
  parent: number | undefined;
  /** Its messages go into the file, too. */
  fits: boolean;
}

/** Those whose calls are in the file. `room`: the characters that are left for their messages. */
export function placeAgents(
  measured: readonly ExportedAgent[],
  { calls, room }: { calls: ReadonlySet<string>; room: number },
): PlacedAgent[] {
  const places = new Map<string, number>();
  const placed: PlacedAgent[] = [];
  let left = room;
  for (const agent of measured.slice(0, LIMITS.conversationFileAgents)) {
    const { state, chars, count } = agent;
    const parent = places.get(state.parent_agent_id ?? '');
    if (parent === undefined && (state.parent_agent_id !== undefined || !calls.has(state.call_id))) continue;
    places.set(state.agent_id, placed.length);
    const fits = chars <= left && count <= LIMITS.conversationFileMessages;
    placed.push({ ...agent, parent, fits });
    if (fits) left -= chars;
  }
  return placed;
}

/** The sub-agent for the file. If its messages would make the file too long, it says how many stayed behind. */
export async function toFileAgent(store: Readable, { state, count, parent, fits }: PlacedAgent): Promise<FileAgent> {
  const messages = fits ? (await readIntact(store, state)).map(toAgentMessage) : [];
  return { ...headOf(state, parent), messages, ...(!fits && { omittedMessages: count }) };
}

/** Tasks have no files. */
function toAgentMessage(stored: StoredMessage): FileAgent['messages'][number] {
  const message = toFileMessage(stored, () => 0);
  if (message.role !== 'user') return message;
  const { files: _, ...plain } = message;
  return plain;
}

const headOf = (
  { call_id: callId, title, outcome = 'cancelled', mode, tools, model, ...rest }: SubAgent,
  parent: number | undefined,
): Omit<FileAgent, 'messages'> => ({
  callId,
  ...(parent !== undefined && { parent }),
  title: title.toWellFormed(),
  outcome,
  ...(mode && { mode }),
  ...(tools && { tools }),
  ...(model !== undefined && { model }),
  turns: rest.turns,
  toolCalls: rest.tool_calls,
  tokens: rest.tokens,
  startedMs: rest.started_ms,
  endedMs: rest.ended_ms ?? rest.started_ms,
});

/** Rows of the sub-agents of a file, in batches. */
export function* agentRows(wsId: string, agents: readonly FileAgent[], ids: Pick<Ids, 'id'>): Generator<Statement[]> {
  const made: SubAgent[] = [];
  for (const agent of agents) {
    const above = agent.parent === undefined ? undefined : made[agent.parent];
    const state = toState(agent, { id: ids.id('agt'), above });
    made.push(state);
    yield [insertAgent(toStored(wsId, state, agent))];
    for (let from = 0; from < agent.messages.length; from += BATCH)
      yield agent.messages
        .slice(from, from + BATCH)
        .map((message: FileMessage, index) =>
          insertAgentMessage(
            { agentId: state.agent_id, seq: from + index + 1 },
            toMessage(message, []),
            message.createdMs,
          ),
        );
  }
}

/** Rows in one unit. */
const BATCH = 200;

const toState = (
  { callId, title, outcome, mode, tools, model, ...rest }: FileAgent,
  { id, above }: { id: string; above: SubAgent | undefined },
): SubAgent => ({
  agent_id: id,
  call_id: callId,
  ...(above && { parent_agent_id: above.agent_id }),
  depth: (above?.depth ?? 0) + 1,
  title,
  state: 'ended',
  outcome,
  ...(mode && { mode }),
  ...(tools && { tools }),
  ...(model !== undefined && { model }),
  turns: rest.turns,
  tool_calls: rest.toolCalls,
  tokens: rest.tokens,
  started_ms: rest.startedMs,
  ended_ms: rest.endedMs,
});

const toStored = (wsId: string, state: SubAgent, { messages, title, outcome }: FileAgent): StoredAgent => ({
  wsId,
  runId: state.agent_id, // its run is not known here
  state,
  task: {
    title,
    prompt: messages.find((message) => message.role === 'user')?.content ?? '',
    maxTurns: state.turns,
    isTrusted: false,
  },
  prefix: undefined,
  cuts: [],
  end: {
    agentId: state.agent_id,
    outcome,
    text: messages.findLast((message) => message.role === 'assistant')?.content ?? '',
    turns: state.turns,
    toolCalls: state.tool_calls,
    tokens: state.tokens,
  },
});
