import { z } from 'zod';
import { DecidedBy, HistoryMessage, WorkstreamState } from '../stream-events.ts';
import { compactedShape } from './compacted.ts';
import { event } from './coordination/event-row.ts';
import { MODES } from './modes.ts';
import { AskedPlan, PlanOutcome } from './questions/asked-plan.ts';

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
    mode: z.enum(MODES),
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
  /**
   * A message waits for the run in progress; sent when it begins to wait, at the beginning of streams, and again when it
   * was edited, steers the run, or waits in another place.
   */
  message_queued: event('message_queued', {
    message: z.string(),
    /** `important`: the run in progress reads it at its next turn. */
    priority: MessagePriority,
    msg_id: z.string(),
  }),
  /** A message no longer waits: the run that answers it has begun, or has read it. */
  message_dispatched: event('message_dispatched', { msg_id: z.string(), run_id: z.string() }),
  /** A message no longer waits and will not be sent: it was taken back, or dropped by a cancel. */
  message_dropped: event('message_dropped', { msg_id: z.string() }),
  busy_error: event('busy_error', { message: z.string() }),
  in_progress_snapshot: event('in_progress_snapshot', {
    content: z.string(),
    reasoning: z.string(),
    ws_id: z.string(),
  }),
  /** The name of `ws_state` in later releases of the HTTP interface; both are sent. */
  state_change: event('state_change', {
    ws_id: z.string(),
    state: WorkstreamState,
    /** The user whose message the run answers; empty for the operator, the daemon, and in events of earlier versions. */
    acting_user_id: z.string(),
  }),
  /** The name over HTTP of an `approve_request` of the kind `plan`. `POST /v1/api/plan` answers it. */
  plan_review: event('plan_review', {
    ...AskedPlan.shape,
    /** What was to be planned, in one line. */
    goal: z.string(),
    call_id: z.string(),
    approval_id: z.string(),
    /** The same as `approval_id`. */
    cycle_id: z.string(),
    expires_at_ms: z.int().min(0),
  }),
  /** The name over HTTP of an `approval_resolved` about a plan. */
  plan_resolved: event('plan_resolved', {
    outcome: PlanOutcome,
    feedback: z.string(),
    by: DecidedBy,
    call_id: z.string(),
    approval_id: z.string(),
    cycle_id: z.string(),
  }),
  /** The stream cannot continue where its client asked it to. All that follows replaces what the client has. */
  replay_truncated: event('replay_truncated', {
    /** How many events after the client's id are no longer stored; 0 if that cannot be known. */
    lost_count: z.int().min(0),
    /** The id of the oldest event that is stored. */
    earliest_available_id: z.string(),
  }),
  /** The name of `compacted` in later releases of the HTTP interface, and what happens before it; both are sent. */
  compaction: event('compaction', {
    phase: z.enum(['start', 'progress', 'end']),
    target: z.literal('workstream'),
    /** In `start`, and in an `end` without a summary. `manual`: a person asked for it. `auto`: the window was almost full. */
    trigger: z.enum(['manual', 'auto']).optional(),
    /** In `progress`: the part of the conversation that is summarized now, from 1, and how many there are. */
    part: z.int().min(1).optional(),
    total: z.int().min(1).optional(),
    /** In `end`: whether there is a summary. If not, `reason` and `message` say why; otherwise the fields of `compacted` follow. */
    ok: z.boolean().optional(),
    reason: z.enum(['cancelled', 'failed']).optional(),
    message: z.string().optional(),
    ...z.object(compactedShape).partial().shape,
  }),
} as const;

type TransientRows = typeof TRANSIENT_EVENTS;
/** Any event that only a live stream has. */
export type TransientEvent = { [T in keyof TransientRows]: z.infer<TransientRows[T]> }[keyof TransientRows];
