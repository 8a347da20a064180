import { z } from 'zod';

/** The states of a workstream (spec http-and-sse, "States and transitions"). */
export const WorkstreamState = z.enum(['idle', 'thinking', 'running', 'attention', 'error']);
export type WorkstreamState = z.infer<typeof WorkstreamState>;

/** Who started a run: a person through a client, a program through the gateway, or a schedule. */
export const RunSource = z.enum(['person', 'agent', 'cron']);
export type RunSource = z.infer<typeof RunSource>;

/** One tool call of a batch, as a person sees it before it runs. */
export const ApprovalItem = z
  .object({
    call_id: z.string(),
    header: z.string(),
    preview: z.string(),
    func_name: z.string(),
    approval_label: z.string(),
    needs_approval: z.boolean(),
    error: z.string().nullable(),
    /** Set when the call will run, or ran, without the sandbox: why. */
    not_sandboxed: z.string().optional(),
  })
  .meta({ id: 'ApprovalItem' });
export type ApprovalItem = z.infer<typeof ApprovalItem>;

/** Token use of the last model turn against the model's context window. */
export const StatusRecord = z
  .object({
    prompt_tokens: z.int().min(0),
    completion_tokens: z.int().min(0),
    total_tokens: z.int().min(0),
    context_window: z.int().min(0),
    pct: z.number().min(0),
    effort: z.enum(['low', 'medium', 'high']),
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
    /** As its bytes say, whatever the sender called it. */
    mime_type: z.string(),
    size_bytes: z.int().min(1),
    kind: z.enum(['image', 'text']),
  })
  .meta({ id: 'Attachment' });
export type Attachment = z.infer<typeof Attachment>;

/**
 * Why a message got no answer at all. It stays in the history, and the model no longer reads it: one that the upstream
 * refused would otherwise be refused with every later message.
 */
export const MessageFailure = z
  .object({
    code: z.enum([
      'refused', // the upstream says that the request is wrong
      'content_filter',
      'unauthorized',
      'rate_limited',
      'unreachable',
      'circuit_open',
      'timeout',
      'interrupted', // the answer broke off before its first word
      'over_limit',
      'internal',
    ]),
    text: z.string(),
  })
  .meta({ id: 'MessageFailure' });
export type MessageFailure = z.infer<typeof MessageFailure>;

/** How a tool call came to its result. The text of a result is for people and the model; what it means is here. */
export const CallOutcome = z
  .enum([
    'done',
    'failed', // it ran and failed, or could not be run as it was asked for
    'denied', // a person said no
    'expired', // nobody decided in time
    'blocked', // a policy did not let it run
    'cancelled', // it was stopped from outside, or its run ended first
    'unknown', // it began, and nobody knows what came of it
  ])
  .meta({ id: 'CallOutcome' });
export type CallOutcome = z.infer<typeof CallOutcome>;

/** One message of a stored conversation, as `history` and snapshots show it. */
export const HistoryMessage = z
  .object({
    /** Position in the workstream, from 1; dense but for messages that a later page holds. */
    seq: z.int().min(1),
    role: z.enum(['user', 'assistant', 'tool']),
    content: z.string().nullable(),
    tool_calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })).nullable(),
    reasoning: z.string().optional(),
    /** On user messages. */
    attachments: z.array(Attachment).optional(),
    /** On user messages whose run ended without any answer. */
    failed: MessageFailure.optional(),
    /** On tool messages. */
    call_id: z.string().optional(),
    name: z.string().optional(),
    is_error: z.boolean().optional(),
    /** On tool messages, as in `tool_result`. */
    exit_code: z.int().optional(),
    duration_ms: z.int().min(0).optional(),
    /** On tool messages whose `content` is not all that was printed: how much that is, for `output.read`. */
    whole_bytes: z.int().min(0).optional(),
    /** On tool messages. */
    outcome: CallOutcome.optional(),
    /**
     * A call that was denied, expired or blocked, or whose result begins as such results do: on the tool message and on
     * the assistant message that asked for it. `outcome` is what counts.
     */
    denied: z.boolean().optional(),
    /** The database no longer holds this message as it was written; `content` says so, and the role is not known. */
    damaged: z.literal(true).optional(),
    /** The answer was cut off by a cancel. */
    partial: z.boolean().optional(),
    created_ms: z.int().min(0).optional(),
  })
  .meta({ id: 'HistoryMessage' });
export type HistoryMessage = z.infer<typeof HistoryMessage>;

/** Who settled a question: a person or program, or what settled it because nobody had. */
export const DecidedBy = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('principal'), id: z.string() }),
    z.object({ kind: z.literal('timeout') }), // nobody decided in time
    z.object({ kind: z.literal('cancel') }), // the run was cancelled first
    z.object({ kind: z.literal('policy') }), // nobody was to be asked
    z.object({ kind: z.literal('shutdown') }), // the run had to end first: it failed, or met a limit
  ])
  .meta({ id: 'DecidedBy' });
export type DecidedBy = z.infer<typeof DecidedBy>;

const told = { after_seq: z.int().min(0), created_ms: z.int().min(0) };

/** What stands between the messages of a conversation and is none: it follows message `after_seq` (0: the beginning). */
export const HistoryNote = z
  .discriminatedUnion('kind', [
    z.object({ ...told, kind: z.literal('info'), message: z.string() }),
    z.object({ ...told, kind: z.literal('error'), message: z.string() }),
    z.object({
      ...told,
      kind: z.literal('decision'),
      approval_id: z.string(),
      question: z.enum(['tools', 'outcome']),
      /** What was asked about. */
      calls: z.array(z.object({ call_id: z.string(), name: z.string() })),
      approved: z.boolean(),
      always: z.boolean(),
      feedback: z.string(),
      by: DecidedBy,
    }),
  ])
  .meta({ id: 'HistoryNote' });
export type HistoryNote = z.infer<typeof HistoryNote>;

/** How a run ended; on the `ws_state` that ends it. */
export const RunOutcome = z
  .object({
    run_id: z.string(),
    status: z.enum(['ok', 'error', 'cancelled', 'timeout']),
    error: z.string().optional(),
    /** The run ended without any answer: its message is marked with this. */
    failed: MessageFailure.optional(),
  })
  .meta({ id: 'RunOutcome' });
export type RunOutcome = z.infer<typeof RunOutcome>;

/** `tool_result` is `StreamToolResult` in the documents. */
const idOf = (type: string) => `Stream${type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S, id = idOf(type)) =>
  z.object({ type: z.literal(type), ...shape }).meta({ id });

/**
 * The vocabulary of a workstream's event log, row by row. What clients read over SSE is these objects as they are;
 * over the WebSocket they are the `event` of a `workstream` event.
 */
export const STREAM_EVENTS = {
  /** A message was accepted and its run begins. */
  user_turn: event('user_turn', {
    message: z.string(),
    run_id: z.string(),
    source: RunSource,
    attachments: z.array(Attachment).optional(),
  }),
  thinking_start: event('thinking_start', {}),
  thinking_stop: event('thinking_stop', {}),
  reasoning: event('reasoning', { text: z.string() }),
  content: event('content', { text: z.string() }),
  /** `interrupted`: the daemon died in mid-answer; the partial text is void and the turn is asked again. */
  stream_end: event('stream_end', { interrupted: z.literal(true).optional() }),
  status: event('status', StatusRecord.shape),
  tool_info: event('tool_info', { items: z.array(ApprovalItem) }),
  approve_request: event('approve_request', {
    items: z.array(ApprovalItem),
    approval_id: z.string(),
    /** `tools`: may these run? `outcome`: these ran when the daemon died; approved = run again, denied = skip. */
    kind: z.enum(['tools', 'outcome']),
    expires_at_ms: z.int().min(0),
  }),
  approval_resolved: event('approval_resolved', {
    approval_id: z.string(),
    approved: z.boolean(),
    feedback: z.string(),
    by: DecidedBy,
    always: z.boolean(),
    call_ids: z.array(z.string()),
  }),
  tool_output_chunk: event('tool_output_chunk', { call_id: z.string(), chunk: z.string() }),
  tool_result: event('tool_result', {
    call_id: z.string(),
    name: z.string(),
    output: z.string(),
    outcome: CallOutcome,
    /** Every outcome but `done`. */
    is_error: z.boolean(),
    /** Of a command that ended by itself. */
    exit_code: z.int().optional(),
    /** How long the call ran; absent where it did not run. */
    duration_ms: z.int().min(0).optional(),
    /** Where `output` is only the two ends of what was printed: how much that is, for `output.read`. */
    whole_bytes: z.int().min(0).optional(),
  }),
  info: event('info', { message: z.string() }),
  /** `damaged`: stands for events that the database holds no longer as they were written. */
  error: event('error', { message: z.string(), damaged: z.literal(true).optional() }),
  /** The display starts anew: histories begin after message `after_seq`. */
  clear_ui: event('clear_ui', { after_seq: z.int().min(0) }),
  /** Messages of a resumed conversation, after `clear_ui`. */
  history: event('history', { messages: z.array(HistoryMessage) }),
  cancelled: event('cancelled', {}),
  ws_state: event('ws_state', { ws_id: z.string(), state: WorkstreamState, run: RunOutcome.optional() }),
  settings_changed: event('settings_changed', {
    name: z.string(),
    model: z.string(),
    model_alias: z.string(),
    skip_permissions: z.boolean(),
    /** When auto-approve ends; absent when it is off or has no end. */
    skip_permissions_until_ms: z.int().min(0).optional(),
  }),
} as const;

type EventRows = typeof STREAM_EVENTS;
/** The `type` of an event of the log. */
export type StreamEventType = keyof EventRows;
/** The event of one type. */
export type StreamEventOf<T extends StreamEventType> = z.infer<EventRows[T]>;
/** Any event of the log. */
export type StreamEvent = { [T in StreamEventType]: StreamEventOf<T> }[StreamEventType];

// `Object.values` forgets that there is at least one.
const rows = Object.values(STREAM_EVENTS) as unknown as [EventRows[StreamEventType]];
/** Any event of the log. */
export const StreamEvent = z.discriminatedUnion('type', rows).meta({ id: 'StreamEvent' });

/** Frames that only live streams carry: no id, not in the log. */
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
  /** The conversation so far; its SSE id is the cursor the snapshot was taken at. */
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
  busy_error: event('busy_error', { message: z.string() }),
  in_progress_snapshot: event('in_progress_snapshot', {
    content: z.string(),
    reasoning: z.string(),
    ws_id: z.string(),
  }),
  /** The name of `ws_state` in later releases of the HTTP interface; sent beside it. */
  state_change: event('state_change', { ws_id: z.string(), state: WorkstreamState }),
} as const;

type TransientRows = typeof TRANSIENT_EVENTS;
/** Any frame that only a live stream carries. */
export type TransientEvent = { [T in keyof TransientRows]: z.infer<TransientRows[T]> }[keyof TransientRows];
