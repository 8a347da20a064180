import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';
import type { HistoryMessage, HistoryNote } from '../../../protocol/stream-events.ts';
import { untilAnswered } from '../until-answered.ts';
import { toNote } from './event-updates.ts';
import { toBlock } from './text-content.ts';
import { toKind, toOutput, toStatus, toTitle } from './tool-calls.ts';

type Stored = Pick<WorkstreamSnapshot, 'messages' | 'notes' | 'truncated'>;

/** Messages that are read at once. */
const PAGE = 500;
/** A longer conversation begins with a note that earlier messages are left out. */
const MOST_MESSAGES = 5_000;

/** All stored messages before a snapshot's own, oldest first. */
async function readEarlier(client: Pick<GatewayClient, 'call'>, wsId: string, snapshot: Stored): Promise<Stored> {
  let { messages, truncated } = snapshot;
  let notes = snapshot.notes ?? [];
  while (truncated && messages.length < MOST_MESSAGES) {
    const before = messages[0]?.seq;
    if (before === undefined) break;
    const page = await untilAnswered(() => client.call('workstream.history', { wsId, before, limit: PAGE }));
    if (page.messages.length === 0) break;
    messages = [...page.messages, ...messages];
    notes = [...(page.notes ?? []), ...notes];
    truncated = page.truncated;
  }
  return { messages, notes, truncated };
}

/** The whole conversation as updates, as if it happened again. */
export async function replay(
  client: Pick<GatewayClient, 'call'>,
  wsId: string,
  snapshot: Stored,
): Promise<SessionUpdate[]> {
  const { messages, notes = [], truncated } = await readEarlier(client, wsId, snapshot);
  const shown = new Set<HistoryNote>();
  const updates: SessionUpdate[] = truncated
    ? [say('(Earlier messages are left out here; the page shows them.)\n\n')]
    : [];
  const tellNotes = (until: number) => {
    for (const note of notes) {
      if (shown.has(note) || note.after_seq >= until) continue;
      shown.add(note);
      updates.push(...toNoteUpdates(note));
    }
  };
  for (const message of messages) {
    tellNotes(message.seq);
    updates.push(...toUpdates(message));
  }
  tellNotes(Number.POSITIVE_INFINITY);
  return updates;
}

const say = (text: string): SessionUpdate => ({ sessionUpdate: 'agent_message_chunk', content: toBlock(text) });

function toNoteUpdates(note: HistoryNote): SessionUpdate[] {
  if (note.kind === 'info' || note.kind === 'error') return [say(`${toNote(note.message)}\n\n`)];
  return [];
}

function toUpdates(message: HistoryMessage): SessionUpdate[] {
  const { role, content, reasoning, attachments = [] } = message;
  if (role === 'tool') return [toResult(message)];
  const text = content ?? '';
  if (role === 'user') {
    const files = attachments.map(({ filename }) => `\n[${toTitle(filename)}]`).join('');
    return [{ sessionUpdate: 'user_message_chunk', content: toBlock(`${text}${files}`) }];
  }
  const thought: SessionUpdate[] =
    reasoning === undefined || reasoning === ''
      ? []
      : [{ sessionUpdate: 'agent_thought_chunk', content: toBlock(reasoning) }];
  return [...thought, ...(text === '' ? [] : [say(text)]), ...(message.tool_calls ?? []).map(toCall)];
}

function toCall({ id, name, arguments: json }: { id: string; name: string; arguments: string }): SessionUpdate {
  const subject = subjectOf(json);
  return {
    sessionUpdate: 'tool_call',
    toolCallId: id,
    title: toTitle(subject === undefined ? name : `${name} ${subject}`),
    name,
    kind: toKind(name),
    status: 'pending',
  };
}

/** What stored calls work on; their headers are not stored. */
const SUBJECTS = ['command', 'path', 'pattern', 'query', 'url', 'question', 'title'] as const;
const MOST_SUBJECT = 200;

function subjectOf(json: string): string | undefined {
  const given = parsed(json);
  const found = SUBJECTS.map((name) => given[name]).find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found.slice(0, MOST_SUBJECT) : undefined;
}

function parsed(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

const toResult = ({ call_id = '', content, outcome, is_error }: HistoryMessage): SessionUpdate => ({
  sessionUpdate: 'tool_call_update',
  toolCallId: call_id,
  status: outcome === undefined ? (is_error === true ? 'failed' : 'completed') : toStatus(outcome),
  content: toOutput(content ?? ''),
});
