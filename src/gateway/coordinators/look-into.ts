import type { SeenConversation, SeenMessage, SeenWorkstream } from '../../agent/coordinator/coordination.ts';
import type { Message, ToolMessage } from '../../agent/message.ts';
import { taintAfter } from '../../agent/run/approval/taint.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import { stateAfter } from '../workstreams/workstream-data.ts';
import type { TreeRow } from './coordinator-rows.ts';
import type { Coordinators } from './coordinators.ts';

type Parts = Pick<Coordinators, 'deps' | 'parts'>;

/** A workstream as its coordinator sees it, loaded or not. */
export function toSeen(row: TreeRow, { parts: { workstreams } }: Pick<Parts, 'parts'>): SeenWorkstream {
  const loaded = workstreams.find(row.ws_id, DAEMON)?.data;
  return {
    wsId: row.ws_id,
    name: loaded?.name ?? row.alias ?? row.generated_name,
    state: loaded?.state ?? stateAfter(row.last_run_status),
    isOpen: row.loaded !== 0,
    kind: row.kind,
    parentWsId: row.parent_ws_id ?? undefined,
    updatedMs: loaded?.updatedMs ?? row.updated_ms,
  };
}

/** What workstreams do now, as far as they are loaded; the others do nothing. */
export const toResults = (rows: readonly TreeRow[], { parts: { workstreams } }: Pick<Parts, 'parts'>) =>
  Object.fromEntries(
    rows.map((row) => [
      row.ws_id,
      { state: workstreams.find(row.ws_id, DAEMON)?.data.state ?? stateAfter(row.last_run_status) },
    ]),
  );

/** Its latest texts, the oldest first. `answersOnly`: what its agent said. */
export async function lookInto(
  row: TreeRow,
  { limit, answersOnly = false }: { limit: number; answersOnly?: boolean },
  coordinators: Parts,
): Promise<SeenConversation> {
  const { deps, parts } = coordinators;
  const loaded = parts.workstreams.find(row.ws_id, DAEMON);
  const messages = await contextOf(row, loaded, deps);
  const texts = messages.flatMap(toText).filter(({ role }) => !answersOnly || role === 'assistant');
  return {
    workstream: toSeen(row, coordinators),
    messages: texts.slice(-limit),
    waitsFor: waitsFor(loaded),
    taint: everTainted(messages),
  };
}

const contextOf = async (row: TreeRow, loaded: Workstream | undefined, { messages }: Parts['deps']) =>
  loaded?.current?.messages ??
  messages.context(
    loaded?.data ?? {
      wsId: row.ws_id,
      contextAfterSeq: row.context_after_seq,
      messageCount: row.message_count,
    },
  );

function toText(message: Message): SeenMessage[] {
  if (message.role === 'tool')
    return [{ role: 'tool', text: `${message.name} (${message.outcome}): ${message.output}` }];
  if (message.role === 'user' && message.environment) return [];
  return message.content === '' ? [] : [{ role: message.role, text: message.content }];
}

/** The calls that wait for a person, or the other question. */
function waitsFor(loaded: Workstream | undefined): string[] {
  const asked = loaded?.current?.pendingApproval();
  if (!asked) return [];
  const calls = asked.items.filter(({ needs_approval }) => needs_approval).map(({ func_name }) => func_name);
  return calls.length > 0 ? calls : [asked.kind];
}

/** Untrusted content that it has read at any time: its texts may come from it, whatever a person wrote there since. */
function everTainted(messages: readonly Message[]): ToolMessage['taint'] {
  for (const message of messages.toReversed()) {
    const taint = taintAfter(undefined, message);
    if (taint) return { kind: taint.kind, ...(taint.target !== undefined && { target: taint.target }) };
  }
  return undefined;
}
