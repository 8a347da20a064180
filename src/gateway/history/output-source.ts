import type { ToolMessage } from '../../agent/message.ts';
import type { Outputs } from '../../agent/outputs/outputs.ts';
import type { FoundOutput, OutputSource } from '../../agent/tools/read-output.ts';
import { findAgentResult } from '../agents/sub-agent-rows.ts';
import { findCommand } from '../background/background-rows.ts';
import type { Store } from '../store/store.ts';
import { damaged } from '../store/store-fault.ts';
import { createMessages, type Messages } from './messages.ts';

interface SourceDeps {
  store: Store;
  outputs: Pick<Outputs, 'open'>;
}

/** The whole outputs of finished calls: long ones, and those stored with their messages. */
export function createOutputSource({ store, outputs }: SourceDeps): OutputSource {
  const messages = createMessages(store);
  return {
    async open(wsId, callId) {
      const row = await store.db
        .selectFrom('workstreams')
        .select(['context_after_seq', 'message_count'])
        .where('ws_id', '=', wsId)
        .executeTakeFirst();
      const place = row && { wsId, contextAfterSeq: row.context_after_seq, messageCount: row.message_count };
      const result =
        (place && (await findResult(place, callId, messages))) ?? (await findAgentResult(store, wsId, callId));
      if (!result) return openBackground(wsId, callId, { store, outputs });
      const { output, kept, taint } = result;
      if (!kept) return { kind: 'found', pieces: [Buffer.from(output)], taint };
      return openKept(outputs, { name: kept.name, taint });
    },
  };
}

async function openKept(
  outputs: SourceDeps['outputs'],
  { name, taint }: { name: string | undefined; taint: ToolMessage['taint'] },
): Promise<FoundOutput> {
  const pieces = name === undefined ? undefined : await outputs.open(name);
  return pieces ? { kind: 'found', pieces, taint } : { kind: 'expired' };
}

/** The output of a background command has the command's id, because calls show only parts of it. */
async function openBackground(wsId: string, commandId: string, { store, outputs }: SourceDeps): Promise<FoundOutput> {
  const command = await findCommand(store, wsId, commandId);
  if (!command) return { kind: 'unknown' };
  const { outputName: name, taint } = command;
  return name === undefined ? { kind: 'found', pieces: [] } : openKept(outputs, { name, taint });
}

/** Messages searched at a time. */
const PAGE = 200;

interface Place {
  wsId: string;
  contextAfterSeq: number;
  messageCount: number;
}

/**
 * The latest result of a call. Searches from the newest message, because people mostly look at recent ones. Throws if
 * damaged messages may contain it.
 */
export async function findResult(
  { wsId, contextAfterSeq, messageCount }: Place,
  callId: string,
  messages: Pick<Messages, 'page'>,
): Promise<ToolMessage | undefined> {
  let isDamaged = false;
  for (let upTo = messageCount; upTo > contextAfterSeq; upTo -= PAGE) {
    const after = Math.max(contextAfterSeq, upTo - PAGE);
    const page = await messages.page(wsId, { after, upTo, limit: PAGE });
    for (const stored of page.reverse()) {
      const { message } = stored;
      if (message.role === 'tool' && message.callId === callId) return message;
      isDamaged ||= stored.isDamaged === true;
    }
  }
  if (isDamaged) throw damaged(new Error(`the result of call ${callId} may be damaged`));
  return undefined;
}
