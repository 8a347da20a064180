import { z } from 'zod';
import { event, HistoryMessage, WorkstreamState } from '../stream-events.ts';

/** How a message that waits is sent: to the run in progress, or after it. */
export const MessagePriority = z.enum(['important', 'notice']);

/** Events that only live streams have: they have no id and are not in the log. */
export const TRANSIENT_EVENTS = {
  connected: event('connected', {
    ws_id: z.string(),
    name: z.string(),
    model: z.string(),
    model_alias: z.string(),
    skip_permissions: z.boolean(),
    skip_permissions_until_ms: z.int().min(0).optional(),
    recovered: z.boolean().optional(),
    reason: z.enum(['expired', 'epoch', 'ahead']).optional(),
  }),
  /** The conversation so far; its SSE id is the cursor of the snapshot. */
  history: event(
    'history',
    {
      messages: z.array(HistoryMessage),
      /** After an exact resume: the cursor the stream continues from. */
      from: z.string().optional(),
      /** Older messages exist: read them with `before` = the first `seq`. */
      truncated: z.boolean().optional(),
    },
    'StreamOpeningHistory',
  ),
  /** A message waits for the run in progress; sent when it begins to wait, and at the beginning of streams. */
  message_queued: event('message_queued', {
    message: z.string(),
    /** `important`: the run in progress reads it at its next turn. */
    priority: MessagePriority,
    msg_id: z.string(),
  }),
  /** A message no longer waits: the run that answers it has begun, or has read it. */
  message_dispatched: event('message_dispatched', { msg_id: z.string(), run_id: z.string() }),
  busy_error: event('busy_error', { message: z.string() }),
  in_progress_snapshot: event('in_progress_snapshot', {
    content: z.string(),
    reasoning: z.string(),
    ws_id: z.string(),
  }),
  /** The name of `ws_state` in later releases of the HTTP interface; both are sent. */
  state_change: event('state_change', { ws_id: z.string(), state: WorkstreamState }),
} as const;

type TransientRows = typeof TRANSIENT_EVENTS;
/** Any event that only a live stream has. */
export type TransientEvent = { [T in keyof TransientRows]: z.infer<TransientRows[T]> }[keyof TransientRows];
