import { z } from 'zod';
import { ApprovalItem } from '../events/approval-item.ts';
import { MODES } from '../events/modes.ts';
import { MessagePriority } from '../events/transient.ts';
import { WORKSTREAM_KINDS } from '../methods/conversation/kinds.ts';
import { BudgetQuestion } from '../run-outcome.ts';
import { HistoryMessage, QuestionKind, WorkstreamState } from '../stream-events.ts';
import { endpoint } from './endpoint.ts';
import { eventsEndpoints } from './events.ts';
import { OWNED_FIELDS } from './sharing.ts';
import { FINER_FIELDS, workstreamEndpoints } from './workstream.ts';

const UNKNOWN = { 404: 'Unknown workstream' } as const;
const BUSY = 'Already processing a request. Please wait.';
const Place = { ws_id: z.string() };
const Ok = z.object({ status: z.literal('ok') });
const text = z.string().nullish();
/** Checked by a refinement of the whole request, because later releases word the refusal without the field in front. */
const YesOrNo = z.unknown().optional().meta({ type: 'boolean' });
const Integer = z.unknown().optional().meta({ type: 'integer' });

const NO_MESSAGE = 'Empty message';
const NOT_BOOLEAN = 'approved must be a boolean';
const NOT_POSITIVE = 'turns must be a positive integer';
const NO_TITLE = 'title is required';
const NO_MESSAGE_ID = 'msg_id required';
const LONG_REASON = 'reason must have at most 512 bytes';

const isGiven = (value: string): boolean => value.trim() !== '';
const bytesIn = (value: string): number => new TextEncoder().encode(value).length;

/** The paths of later releases, which name the workstream (HTTP.md, "Paths by workstream"). */
export const workstreamLineEndpoints = {
  detail: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}',
    summary: 'A loaded workstream and its pending approval.',
    scope: 'read',
    request: () => z.object(Place),
    reply: () =>
      z.object({
        ws_id: z.string(),
        name: z.string(),
        state: WorkstreamState,
        /** Empty: workstreams have no owner. */
        ...OWNED_FIELDS,
        kind: z.enum(WORKSTREAM_KINDS),
        parent_ws_id: z.string().nullable(),
        title: z.string().nullable(),
        model_alias: z.string(),
        message_count: z.int(),
        created: z.string(),
        updated: z.string(),
        mode: z.enum(MODES),
        /** The only tools that run without asking; absent unless auto-approve covers just these. */
        auto_approve_tools: z.array(z.string()).optional(),
        judge_model: z.string().optional(),
        /** The labels that its machine needs; absent if there are none. */
        machine_labels: z.array(z.string()).optional(),
        pending_approval: z
          .object({
            approval_id: z.string(),
            cycle_id: z.string(),
            kind: QuestionKind,
            items: z.array(ApprovalItem),
            budget: BudgetQuestion.optional(),
            expires_at_ms: z.int(),
          })
          .optional(),
      }),
    errors: UNKNOWN,
  }),
  history: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/history',
    summary: 'The last messages, and the cursor at which the event stream continues.',
    scope: 'read',
    request: () =>
      z.object({
        ...Place,
        limit: z.coerce.number().int().min(1).max(500).optional(),
        /** The `seq` of the oldest message read so far: answers the page before it. */
        before: z.coerce.number().int().min(0).optional(),
      }),
    reply: () =>
      z.object({
        ws_id: z.string(),
        messages: z.array(HistoryMessage),
        /** Older messages exist. */
        truncated: z.boolean(),
        /** Absent with `before`, because the stream continues after the newest page. */
        cursor: z.string().optional(),
        /** The same as `cursor`, for the parameter `history_token` of the stream. */
        handoff_token: z.string().optional(),
      }),
    errors: { 400: 'limit: must be at most 500', ...UNKNOWN },
  }),
  events: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/events',
    summary: 'The event stream of a workstream, as /v1/api/events.',
    scope: 'read',
    request: () => z.object({ ...eventsEndpoints.events.request().shape, ...Place }),
    reply: eventsEndpoints.events.reply,
    answers: 'event-stream',
    errors: { 400: 'history: must be at most 2000', ...UNKNOWN },
  }),
  send: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/send',
    summary: 'Send one user message. During a run it waits in the queue.',
    scope: 'write',
    request: () =>
      z
        .object({
          ...Place,
          /** Begins with `!!!` if the run in progress shall read it at its next turn; that beginning is taken off. */
          message: z.string().default(''),
          /** Default: all uploaded attachments that were not sent yet; empty: none. */
          attachment_ids: z.array(z.string().max(128)).optional(),
          /**
           * An idempotency key within the workstream, and the client's name for the message. Becomes the `msg_id` unless a run
           * has that id. The header takes precedence as the key.
           */
          client_send_id: z
            .string()
            .regex(/^[A-Za-z0-9_-]{1,128}$/, 'must have 1 to 128 letters, digits, _ or -')
            .nullish(),
        })
        .refine(({ message, attachment_ids = [] }) => isGiven(message) || attachment_ids.length > 0, NO_MESSAGE),
    reply: () =>
      z.object({
        /** With `queue_full` and `attachments_busy`, nothing was sent. */
        status: z.enum(['ok', 'queued', 'queue_full', 'attachments_busy']),
        /** Of a queued message. */
        priority: MessagePriority.optional(),
        msg_id: z.string().optional(),
        run_id: z.string().optional(),
        attached_ids: z.array(z.string()),
        dropped_attachment_ids: z.array(z.string()),
      }),
    errors: { 400: NO_MESSAGE, ...UNKNOWN },
    idempotencyKey: true,
  }),
  unsend: endpoint({
    verb: 'delete',
    path: '/v1/api/workstreams/{ws_id}/send',
    summary: 'Take back a queued message.',
    scope: 'write',
    bodyToo: true,
    request: () =>
      z.object({ ...Place, msg_id: z.string().default('') }).refine(({ msg_id }) => isGiven(msg_id), NO_MESSAGE_ID),
    reply: () => z.object({ status: z.enum(['removed', 'not_found']) }),
    errors: { 400: NO_MESSAGE_ID, ...UNKNOWN },
  }),
  approve: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/approve',
    summary: 'Decide the pending approval.',
    scope: 'approve',
    request: () =>
      z
        .object({
          ...Place,
          approved: YesOrNo,
          feedback: text,
          always: z.boolean().default(false),
          ...FINER_FIELDS,
          /** The approval, by the `cycle_id` or `approval_id` of its question. */
          cycle_id: text,
          /** Another way to name the approval: one of its calls. */
          call_id: text,
        })
        .refine(({ approved }) => typeof approved === 'boolean', NOT_BOOLEAN),
    reply: () =>
      z.object({
        status: z.literal('ok'),
        /** Of the question that was decided; empty if none was pending. */
        cycle_id: z.string(),
      }),
    errors: { 400: NOT_BOOLEAN, 409: 'stale call_id or stale cycle_id', ...UNKNOWN },
    idempotencyKey: true,
  }),
  cancel: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/cancel',
    summary: 'Stop the current run; the answer lists what was stopped.',
    scope: 'write',
    request: () => z.object({ ...Place, force: z.unknown().optional() }),
    reply: workstreamEndpoints.cancel.reply,
    errors: { 400: 'No session', ...UNKNOWN },
  }),
  close: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/close',
    summary: 'Unload a workstream; its conversation stays saved.',
    scope: 'write',
    strictBody: true,
    request: () =>
      z
        .object({
          ...Place,
          /** Has no effect. */
          reason: text,
        })
        .refine(({ reason }) => bytesIn(reason ?? '') <= 512, LONG_REASON),
    reply: () => Ok,
    errors: { 400: 'Invalid JSON body, Cannot close last workstream, or a reason over 512 bytes', ...UNKNOWN },
  }),
  rewind: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/rewind',
    summary: 'Take back the last turns of the person; with `files`, also what their runs changed on disk.',
    scope: 'write',
    request: () =>
      z
        .object({
          ...Place,
          turns: Integer,
          files: z.unknown().optional(),
          on_conflict: z.enum(['refuse', 'keep', 'overwrite']).nullish(),
        })
        .refine(({ turns }) => Number.isSafeInteger(turns) && Number(turns) >= 1, NOT_POSITIVE),
    reply: () =>
      z.object({
        status: z.literal('ok'),
        after_seq: z.int(),
        taken: z.int(),
        /** What became of the files, if `files` was true. */
        files: z
          .object({
            run_ids: z.array(z.string()),
            changed: z.array(z.string()),
            kept: z.array(z.string()),
            missing: z.array(z.string()),
            failed: z.array(z.object({ path: z.string(), why: z.string() })),
          })
          .optional(),
      }),
    errors: { 400: NOT_POSITIVE, 409: BUSY, ...UNKNOWN },
    idempotencyKey: true,
  }),
  retry: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/retry',
    summary: 'Answer the last message of the person again.',
    scope: 'write',
    request: () => z.object(Place),
    reply: () => z.object({ status: z.literal('ok'), run_id: z.string() }),
    errors: { 409: BUSY, ...UNKNOWN },
    idempotencyKey: true,
  }),
  title: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/title',
    summary: 'Rename a workstream, also a stored one.',
    scope: 'write',
    request: () => z.object({ ...Place, title: text }).refine(({ title }) => isGiven(title ?? ''), NO_TITLE),
    reply: () => z.object({ status: z.literal('ok'), title: z.string() }),
    errors: { 400: NO_TITLE, 409: 'That name is already used by another workstream', ...UNKNOWN },
  }),
  refreshTitle: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/refresh-title',
    summary: 'Let the model write a new title.',
    scope: 'write',
    request: () => z.object(Place),
    reply: () => z.object({ status: z.literal('ok'), title: z.string() }),
    errors: { 400: 'There is nothing to name yet', 503: 'No title was written: …', ...UNKNOWN },
  }),
  open: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/open',
    summary: 'Load a stored workstream.',
    scope: 'write',
    request: () => z.object(Place),
    reply: () => z.object({ ws_id: z.string(), name: z.string(), already_loaded: z.boolean() }),
    errors: { 429: 'Maximum of N workstreams reached', ...UNKNOWN },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/workstreams/{ws_id}',
    summary: 'Delete a workstream, loaded or stored, with its messages.',
    scope: 'approve',
    request: () => z.object(Place),
    reply: () => z.object({ status: z.literal('ok'), deleted: z.string() }),
    errors: { 400: 'Cannot delete the main session (main).', ...UNKNOWN },
  }),
  removeByPost: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/delete',
    summary: 'The same as DELETE /v1/api/workstreams/{ws_id}.',
    scope: 'approve',
    request: () => z.object(Place),
    reply: () => z.object({ status: z.literal('ok'), deleted: z.string() }),
    errors: { 400: 'Cannot delete the main session (main).', ...UNKNOWN },
  }),
};
