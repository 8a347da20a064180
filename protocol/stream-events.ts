import { z } from 'zod';
import { AnswerSpending } from './events/answer-spending.ts';
import { ApprovalItem } from './events/approval-item.ts';
import { backgroundCommandShape } from './events/background-command.ts';
import { callResultShape } from './events/command-result.ts';
import { compactedShape, summaryShape } from './events/compacted.ts';
import { coordinationEvents } from './events/coordination/coordination.ts';
import { event } from './events/coordination/event-row.ts';
import { infoShape } from './events/info.ts';
import { MODES } from './events/modes.ts';
import { outputWarningShape } from './events/output-warning.ts';
import { PlanOutcome } from './events/questions/asked-plan.ts';
import { pastRulingShape } from './events/rules.ts';
import { ofAgent, subAgentShape } from './events/sub-agent.ts';
import { TodoItem } from './events/todo.ts';
import { judgeStateShape, lateVerdictShape } from './events/verdict.ts';
import { waitShape } from './events/wait-reason.ts';
import { watchShape } from './events/watch.ts';
import { VISIBILITIES } from './methods/conversation/sharing.ts';
import { BudgetQuestion, MessageFailure, RunOutcome } from './run-outcome.ts';

/** The states of a workstream (spec http-and-sse, "States and transitions"). */
export const WorkstreamState = z.enum(['idle', 'thinking', 'running', 'attention', 'error']);
export type WorkstreamState = z.infer<typeof WorkstreamState>;

/** Who started a run: a person through a client, a program through the gateway, or a schedule. */
export const RunSource = z.enum(['person', 'agent', 'cron']);
export type RunSource = z.infer<typeof RunSource>;

/** How much a model reasons. */
export const Effort = z.enum(['low', 'medium', 'high']).meta({ id: 'Effort' });
export type Effort = z.infer<typeof Effort>;

/** Token use of the last model turn against the model's context window. */
export const StatusRecord = z
  .object({
    prompt_tokens: z.int().min(0),
    completion_tokens: z.int().min(0),
    total_tokens: z.int().min(0),
    context_window: z.int().min(0),
    pct: z.number().min(0),
    effort: Effort,
    cache_creation_tokens: z.int().min(0),
    cache_read_tokens: z.int().min(0),
  })
  .meta({ id: 'StatusRecord' });
export type StatusRecord = z.infer<typeof StatusRecord>;

/** A file that belongs to a message; its bytes are read over HTTP. */
export const Attachment = z
  .object({
    attachment_id: z.string(),
    filename: z.string(),
    /** Detected from its bytes; the sender's type is ignored. */
    mime_type: z.string(),
    size_bytes: z.int().min(1),
    /** Models read images, text, and the text of a `pdf`. Of `audio` and `video` they only read the names. */
    kind: z.enum(['image', 'text', 'pdf', 'audio', 'video']),
  })
  .meta({ id: 'Attachment' });
export type Attachment = z.infer<typeof Attachment>;

/** How a tool call ended. Programs use this; the text of a result is for people and the model. */
export const CallOutcome = z
  .enum([
    'done',
    'failed', // it ran and failed, or could not run as requested
    'denied', // a person denied it
    'expired', // nobody decided in time
    'blocked', // a policy did not allow it
    'cancelled', // it was stopped, or its run ended first
    'unknown', // it started, and its outcome is unknown
  ])
  .meta({ id: 'CallOutcome' });
export type CallOutcome = z.infer<typeof CallOutcome>;

/** What an approval asks: to run calls, or again after a crash, to follow instruction files, to exceed a budget, or to accept a plan. */
export const QuestionKind = z.enum(['tools', 'outcome', 'instructions', 'budget', 'plan']);
export type QuestionKind = z.infer<typeof QuestionKind>;

/** One message of a stored conversation, as `history` and snapshots show it. */
export const HistoryMessage = z
  .object({
    /** Position in the workstream, from 1. Messages that are taken back or only for the model, and other pages, leave gaps. */
    seq: z.int().min(1),
    role: z.enum(['user', 'assistant', 'tool']),
    content: z.string().nullable(),
    tool_calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })).nullable(),
    reasoning: z.string().optional(),
    attachments: z.array(Attachment).optional(), // on user messages, and on tool messages: images that the tool has read
    /** On user messages whose run ended without any answer. */
    failed: MessageFailure.optional(),
    /** On tool messages. */
    call_id: z.string().optional(),
    name: z.string().optional(),
    is_error: z.boolean().optional(),
    /** On tool messages, as in `tool_result`. */
    ...callResultShape,
    /** On tool messages. */
    outcome: CallOutcome.optional(),
    /** On the result of an approved plan: the checklist that it began. */
    todo: z.array(TodoItem).optional(),
    /** On tool messages, unless it was decided as the tool says: what was decided about the call, and why. */
    ruling: z.object(pastRulingShape).optional(),
    /**
     * The call was denied, expired or blocked, or its result begins like theirs; on the tool message and on the assistant
     * message that requested it. Programs should use `outcome`.
     */
    denied: z.boolean().optional(),
    /** On an assistant message: its calls wait for approval. */
    pending: z.literal(true).optional(),
    /** This message is damaged in the database. `content` says so, and the role is unknown. */
    damaged: z.literal(true).optional(),
    /** The answer was cut off: by a cancel, an error, or the model's output limit. */
    partial: z.boolean().optional(),
    /** On assistant messages; absent from those of earlier versions, and if the answer broke off. */
    spent: AnswerSpending.optional(),
    created_ms: z.int().min(0).optional(),
  })
  .meta({ id: 'HistoryMessage' });
export type HistoryMessage = z.infer<typeof HistoryMessage>;

/** Who decided an approval: a person or a program, or what ended it without a decision. */
export const DecidedBy = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('principal'), id: z.string() }),
    z.object({ kind: z.literal('timeout') }), // nobody decided in time
    z.object({ kind: z.literal('cancel') }), // the run was cancelled first
    z.object({ kind: z.literal('policy') }), // a rule decided without asking
    z.object({ kind: z.literal('judge') }), // its verdicts were enough in the mode `auto`; it only approves
    z.object({ kind: z.literal('shutdown') }), // the run ended first: it failed, or reached a limit
  ])
  .meta({ id: 'DecidedBy' });
export type DecidedBy = z.infer<typeof DecidedBy>;

const told = { after_seq: z.int().min(0), created_ms: z.int().min(0) };

/** A note between the messages of a conversation. It follows message `after_seq` (0: it comes first). */
export const HistoryNote = z
  .discriminatedUnion('kind', [
    z.object({ ...told, ...infoShape, kind: z.literal('info') }),
    /** `damaged`: replaces a note that is damaged in the database. */
    z.object({ ...told, kind: z.literal('error'), message: z.string(), damaged: z.literal(true).optional() }),
    /** From here on, the model reads this summary in place of the messages up to `to_seq`. */
    z.object({ ...told, ...summaryShape, kind: z.literal('compacted') }),
    z.object({
      ...told,
      kind: z.literal('decision'),
      approval_id: z.string(),
      question: QuestionKind,
      /** The calls of the approval. */
      calls: z.array(z.object({ call_id: z.string(), name: z.string() })),
      approved: z.boolean(),
      always: z.boolean(),
      feedback: z.string(),
      by: DecidedBy,
      plan: PlanOutcome.optional(), // if it was about a plan
    }),
  ])
  .meta({ id: 'HistoryNote' });
export type HistoryNote = z.infer<typeof HistoryNote>;

/**
 * Every event of a workstream's log. Over SSE, clients receive these objects directly; over the WebSocket, as the `event`
 * of a `workstream` event.
 */
export const STREAM_EVENTS = {
  /** A message was accepted and its run begins, or a later message of the run: feedback, or one that steers it. */
  user_turn: event('user_turn', {
    message: z.string(),
    run_id: z.string(),
    steered_run_id: z.string().optional(), // it waited as this run, and was given to the run in progress
    source: RunSource,
    attachments: z.array(Attachment).optional(),
    sender: z.string().optional(), // the user; absent for the operator and the daemon, and in events of earlier versions
    client_send_ids: z.array(z.string()).optional(), // its idempotency key, if it had one
    seq: z.int().min(1).optional(), // its number; absent in events of earlier versions, like the time
    created_ms: z.int().min(0).optional(),
  }),
  thinking_start: event('thinking_start', {}),
  thinking_stop: event('thinking_stop', {}),
  reasoning: event('reasoning', { text: z.string() }),
  content: event('content', { text: z.string() }),
  /**
   * `interrupted`: the daemon died during the answer. The partial text is void, and the model is asked again.
   * `created_ms`: the time of the answer, and `spent`: what it took; absent if there is none, and in events of earlier versions.
   */
  stream_end: event('stream_end', {
    interrupted: z.literal(true).optional(),
    created_ms: z.int().min(0).optional(),
    spent: AnswerSpending.optional(),
  }),
  status: event('status', {
    ...StatusRecord.shape,
    tool_calls_this_turn: z.int().min(0).optional(), // the calls of this answer; absent without one (`/compact`), like the count
    turn_count: z.int().min(1).optional(), // the turns of the run so far
  }),
  tool_info: event('tool_info', { items: z.array(ApprovalItem), ...ofAgent }),
  approve_request: event('approve_request', {
    items: z.array(ApprovalItem),
    approval_id: z.string(),
    kind: QuestionKind,
    budget: BudgetQuestion.optional(), // if the kind is `budget`
    judge_pending: z.boolean().optional(), // a model may still judge these calls; absent while the judge is off
    expires_at_ms: z.int().min(0),
    ...ofAgent,
  }),
  /** What a model says about a call, perhaps after the decision about it. */
  intent_verdict: event('intent_verdict', lateVerdictShape),
  /** No verdict of a model comes for this call. It means neither approval nor denial. */
  judge_state: event('judge_state', judgeStateShape),
  approval_resolved: event('approval_resolved', {
    approval_id: z.string(),
    approved: z.boolean(),
    feedback: z.string(),
    by: DecidedBy,
    always: z.boolean(),
    call_ids: z.array(z.string()),
    /** The calls that were denied although others were approved; absent if there are none. */
    denied_call_ids: z.array(z.string()).optional(),
    /** The ids of the rules that were given with the decision. */
    rule_ids: z.array(z.string()).optional(),
    /** If it was about a plan: what follows. */
    plan: PlanOutcome.optional(),
    ...ofAgent,
  }),
  tool_output_chunk: event('tool_output_chunk', { call_id: z.string(), chunk: z.string(), ...ofAgent }),
  tool_result: event('tool_result', {
    call_id: z.string(),
    name: z.string(),
    output: z.string(),
    outcome: CallOutcome,
    /** True for every outcome except `done`. */
    is_error: z.boolean(),
    ...callResultShape,
    /** Images that the tool has read. */
    attachments: z.array(Attachment).optional(),
    /** After a call of `todo` and an approved plan: the agent's whole checklist; empty if there is none any more. */
    todo: z.array(TodoItem).optional(),
    ...ofAgent,
  }),
  /** A command in the background has started, has printed more, or has ended; its state now. */
  background_command: event('background_command', backgroundCommandShape),
  /** A watch was created, printed something new, or has ended; its state now, with the beginning of its output. */
  watch: event('watch', watchShape),
  /** A sub-agent has started, has had a turn, or has ended; its state now. */
  sub_agent: event('sub_agent', subAgentShape),
  ...coordinationEvents(WorkstreamState),
  /** After the `tool_result` of the call: the output guard found something in its output. */
  output_warning: event('output_warning', { ...outputWarningShape, ...ofAgent }),
  info: event('info', { ...infoShape, ...ofAgent }),
  /** The model's server refused or did not answer. It is asked again at `until_ms`, or after `workstream.proceed`. */
  wait_start: event('wait_start', waitShape),
  /** The wait is over: the request is repeated, or the run was stopped. */
  wait_stop: event('wait_stop', {}),
  /** `damaged`: replaces events that are damaged in the database. */
  error: event('error', { message: z.string(), damaged: z.literal(true).optional() }),
  /** Clears the display: histories begin after message `after_seq`. */
  clear_ui: event('clear_ui', { after_seq: z.int().min(0) }),
  /** Messages of a resumed conversation, after `clear_ui`. */
  history: event('history', { messages: z.array(HistoryMessage) }),
  /** Messages after `after_seq` were taken back. For `retry` and `edit`, the `user_turn` of the new message follows. */
  rewound: event('rewound', { after_seq: z.int().min(0), reason: z.enum(['rewind', 'retry', 'edit']) }),
  /** A failed message no longer counts: it was removed. */
  message_removed: event('message_removed', { seq: z.int().min(1) }),
  /**
   * From now on, the model reads a summary in place of the messages up to `to_seq`, so that the conversation fits into
   * its context window. People still see them; a rewind to before this event brings them back for the model, too.
   */
  compacted: event('compacted', compactedShape),
  cancelled: event('cancelled', {}),
  ws_state: event('ws_state', {
    ws_id: z.string(),
    state: WorkstreamState,
    run: RunOutcome.optional(),
    acting_user_id: z.string().optional(), // the user whose message the run answers; absent like `sender`
  }),
  settings_changed: event('settings_changed', {
    name: z.string(),
    model: z.string(),
    model_alias: z.string(),
    skip_permissions: z.boolean(),
    /** When auto-approve ends; absent when it is off or has no end. */
    skip_permissions_until_ms: z.int().min(0).optional(),
    mode: z.enum(MODES).optional(), // absent in events of earlier versions, like the effort
    effort: Effort.optional(),
    /** Only in the event that reports a change of it. */
    visibility: z.enum(VISIBILITIES).optional(),
  }),
  /** A conversation without a name got a title, which lists may show in place of a name. */
  ws_rename: event('ws_rename', { ws_id: z.string(), name: z.string() }),
} as const;

type EventRows = typeof STREAM_EVENTS;
/** The `type` of an event of the log. */
export type StreamEventType = keyof EventRows;
/** The event of one type. */
export type StreamEventOf<T extends StreamEventType> = z.infer<EventRows[T]>;
/** Any event of the log. */
export type StreamEvent = { [T in StreamEventType]: StreamEventOf<T> }[StreamEventType];

// The type of `Object.values` does not show that there is at least one.
const rows = Object.values(STREAM_EVENTS) as unknown as [EventRows[StreamEventType]];
/** Any event of the log. */
export const StreamEvent = z.discriminatedUnion('type', rows).meta({ id: 'StreamEvent' });
