import { LIMITS } from '../../../protocol/limits.ts';
import type { ChatMessage } from '../../../protocol/methods/chat.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { isShown } from './history.ts';
import type { Messages, StoredMessage } from './messages.ts';

/** The batch size: at most this many messages of a shortened history are read in vain. */
const BATCH = 50;

/** The newest messages of a session, oldest first: at most `limit`, and as many as fit into one answer. */
export async function readChatHistory(
  { wsId, contextAfterSeq: after, messageCount }: Pick<WorkstreamData, 'wsId' | 'contextAfterSeq' | 'messageCount'>,
  limit: number,
  { messages }: { messages: Pick<Messages, 'page' | 'firstSeq'> },
): Promise<{ messages: ChatMessage[]; truncated?: true }> {
  const newestFirst: ChatMessage[] = [];
  let bytes = 1; // the brackets around them, and a comma after each but the last
  const first = (await messages.firstSeq(wsId, { after, upTo: messageCount })) ?? Number.POSITIVE_INFINITY;
  let upTo = messageCount;
  while (upTo >= first && newestFirst.length < limit) {
    const room = limit - newestFirst.length;
    const page = await messages.page(wsId, { after, upTo, limit: Math.min(BATCH, room) });
    for (const stored of page.filter(isShown).toReversed()) {
      const message = toChatMessage(stored);
      bytes += Buffer.byteLength(JSON.stringify(message)) + 1;
      if (bytes > LIMITS.chatHistoryBytes && newestFirst.length > 0) {
        return { messages: newestFirst.reverse(), truncated: true };
      }
      newestFirst.push(message);
    }
    upTo = (page[0]?.seq ?? 0) - 1;
  }
  return { messages: newestFirst.reverse(), ...(upTo >= first && { truncated: true }) };
}

const toAttachmentPart = ({ attachment_id, filename, mime_type, size_bytes }: Attachment) => ({
  type: 'attachment' as const,
  attachmentId: attachment_id,
  fileName: filename,
  mimeType: mime_type,
  sizeBytes: size_bytes,
});

function toChatMessage({ message, createdMs }: StoredMessage): ChatMessage {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
        content: [
          ...(message.content === '' && message.attachments ? [] : [{ type: 'text' as const, text: message.content }]),
          ...(message.attachments ?? []).map(toAttachmentPart),
        ],
        timestamp: createdMs,
        ...(message.failed && { failed: message.failed }),
      };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.reasoning === undefined ? [] : [{ type: 'thinking' as const, thinking: message.reasoning }]),
          ...(message.content === '' ? [] : [{ type: 'text' as const, text: message.content }]),
          ...message.toolCalls.map((call) => ({ type: 'toolCall' as const, ...call })),
        ],
        timestamp: createdMs,
      };
    case 'tool':
      return {
        role: 'toolResult',
        content: [{ type: 'text', text: message.output }],
        timestamp: createdMs,
        toolCallId: message.callId,
        toolName: message.name,
        isError: message.outcome !== 'done',
      };
  }
}
