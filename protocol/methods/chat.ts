import { z } from 'zod';
import { contract } from '../contract.ts';
import { IdempotencyKey, NonEmpty, optionalText } from '../frames.ts';
import { LIMITS } from '../limits.ts';
import { MessageFailure } from '../run-outcome.ts';
import { OutputSchema } from './agent.ts';

const Count = z.int().min(0);

const TextPart = z.strictObject({ type: z.literal('text'), text: z.string() });

/** One message for chat clients: parts instead of one text, and results of tools as separate messages. */
export const ChatMessage = z
  .strictObject({
    role: z.enum(['user', 'assistant', 'toolResult']),
    content: z.array(
      z.discriminatedUnion('type', [
        TextPart,
        z.strictObject({ type: z.literal('thinking'), thinking: z.string() }),
        z.strictObject({
          type: z.literal('attachment'),
          attachmentId: z.string(),
          fileName: z.string(),
          mimeType: z.string(),
          sizeBytes: Count,
        }),
        z.strictObject({ type: z.literal('toolCall'), id: z.string(), name: z.string(), arguments: z.string() }),
      ]),
    ),
    timestamp: Count,
    toolCallId: z.string().optional(),
    toolName: z.string().optional(),
    isError: z.boolean().optional(),
    /** On user messages whose run ended without any answer. */
    failed: MessageFailure.optional(),
  })
  .meta({ id: 'ChatMessage' });
export type ChatMessage = z.infer<typeof ChatMessage>;

/** An inline image of a message; its type is detected from its bytes. */
export const ChatAttachment = z
  .strictObject({
    type: optionalText(64),
    mimeType: optionalText(256),
    fileName: optionalText(1024),
    /** Base64. All images of one message have at most `LIMITS.inlineAttachmentBytes` when decoded. */
    content: z.string({ error: 'content must be base64 string' }),
  })
  .meta({ id: 'ChatAttachment' });
export type ChatAttachment = z.infer<typeof ChatAttachment>;

/** The `chat` event: cumulative deltas (at most every 150 ms), then exactly one final, aborted or error. */
export const ChatEvent = z
  .strictObject({
    runId: NonEmpty,
    sessionKey: NonEmpty,
    seq: Count,
    state: z.enum(['delta', 'final', 'aborted', 'error']),
    message: z.strictObject({ role: z.literal('assistant'), content: z.array(TextPart), timestamp: Count }).optional(),
    errorMessage: z.string().optional(),
    stopReason: z.string().optional(),
  })
  .meta({ id: 'ChatEvent' });
export type ChatEvent = z.infer<typeof ChatEvent>;

/** A session as a chat: history, send, abort. */
export const chatContracts = {
  'chat.history': contract({
    summary: 'The last messages of a session, oldest first; unknown sessions are empty.',
    scope: 'read',
    weight: 3,
    serial: () => 'chat.history', // each may take some megabytes of memory
    params: () =>
      z
        .strictObject({ sessionKey: NonEmpty, limit: z.int().min(1).max(1000).optional() })
        .meta({ id: 'ChatHistoryParams' }),
    result: () =>
      z
        .strictObject({
          sessionKey: NonEmpty,
          sessionId: z.string().optional(),
          messages: z.array(ChatMessage),
          /** Older messages exist, beyond `limit` or the maximum size of the answer. Absent if all are included. */
          truncated: z.literal(true).optional(),
          thinkingLevel: z.string(),
        })
        .meta({ id: 'ChatHistoryResult' }),
  }),
  'chat.send': contract({
    summary: 'Send a message; the answer arrives as chat events.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          sessionKey: NonEmpty,
          message: z.string(),
          thinking: optionalText(),
          deliver: z.boolean().optional(),
          attachments: z.array(ChatAttachment).max(LIMITS.attachmentsPerMessage).optional(),
          /** Files that were uploaded over HTTP. */
          attachmentIds: z.array(NonEmpty.max(128)).max(LIMITS.attachmentsPerMessage).optional(),
          timeoutMs: Count.optional(),
          /** `agent.wait` and the `ws_state` that ends the run have the data. */
          outputSchema: OutputSchema.optional(),
          idempotencyKey: IdempotencyKey,
        })
        .meta({ id: 'ChatSendParams' }),
    result: () =>
      z
        .strictObject({ runId: NonEmpty, status: z.enum(['started', 'in_flight', 'ok', 'error']) })
        .meta({ id: 'ChatSendResult' }),
    idempotency: 'required',
  }),
  'chat.abort': contract({
    summary: 'Cancel a run of a session, or all its runs if runId is absent.',
    scope: 'write',
    params: () => z.strictObject({ sessionKey: NonEmpty, runId: optionalText() }).meta({ id: 'ChatAbortParams' }),
    result: () => z.strictObject({ ok: z.literal(true), aborted: z.boolean() }).meta({ id: 'ChatAbortResult' }),
  }),
};
