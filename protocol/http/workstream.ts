import { z } from 'zod';
import { MODES } from '../events/modes.ts';
import { RULE_TERMS } from '../events/rules.ts';
import { WORKSTREAM_KINDS } from '../methods/conversation/kinds.ts';
import { Activity } from '../methods/conversation/listing.ts';
import { VISIBILITIES } from '../methods/conversation/sharing.ts';
import { WorkstreamState } from '../stream-events.ts';
import { namesIn } from '../text/trimmed-text.ts';
import { endpoint } from './endpoint.ts';
import { OWNED_FIELDS } from './sharing.ts';
import { WAITING_FIELD } from './waiting.ts';

const UNKNOWN = { 404: 'Unknown workstream' } as const;
const WsId = z.string().default('');
const Ok = z.object({ status: z.literal('ok') });
const text = z.string().nullish();
/** One of the rules that an item suggests; `call_id` is needed if several calls ask. */
const Choice = z.object({ call_id: text, id: z.string(), term: z.enum(RULE_TERMS) });
/** The finer parts of a decision. */
export const FINER_FIELDS = {
  /** Rules among those that the items suggest. */
  rule: z.union([Choice, z.array(Choice)]).nullish(),
  /** Calls that are decided otherwise than `approved` says, by their ids. */
  decisions: z
    .record(z.string(), z.object({ approved: z.boolean(), feedback: text, answer: text, choice: text }))
    .nullish(),
};

/** Fields of later releases, refused rather than ignored because a client that sends one depends on it. */
const NOT_SUPPORTED = ['notify_targets', 'attachment_ids'] as const;

/** A list of names, which some clients send as text with commas. */
const Names = z
  .union([z.string().max(2_048), z.array(z.string())], { error: 'must be a list of names' })
  .nullish()
  .transform((names) => (typeof names === 'string' ? [names] : (names ?? [])).flatMap(namesIn));

/** Values that clients send for the default. */
const isDefault = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === false || isEmpty(value);

const isEmpty = (value: unknown): boolean => typeof value === 'object' && Object.keys(value ?? {}).length === 0;

const Create = z.object({
  name: text,
  model: text,
  auto_approve: z.boolean().default(false),
  mode: z.enum(MODES).nullish(),
  /** An ambiguous name is a 409 that lists the ids. */
  resume_ws: text,
  workdir: text,
  /** Who sees it: `shared` or `private`. Default: the setting `workstreams.visibility`. Ignored with `resume_ws`. */
  visibility: z.enum(VISIBILITIES).nullish(),
  /** Ignored with `resume_ws`. */
  template: text,
  ws_template: text,
  skill: text,
  /** 32 hexadecimal digits. */
  ws_id: text,
  initial_message: text,
  /** Needs the approve scope, like `auto_approve`. */
  auto_approve_tools: Names,
  judge_model: text,
  /** `coordinator`, and a parent, need the approve scope and the permission `admin.coordinator`. */
  kind: z.union([z.enum(WORKSTREAM_KINDS), z.literal('')]).nullish(),
  /** The coordinator that it works for. */
  parent_ws_id: text,
  /** Labels that its machine needs. Ignored with `resume_ws`. */
  machine_labels: Names,
  ...Object.fromEntries(NOT_SUPPORTED.map((field) => [field, z.unknown().optional()])),
});

/** The first unsupported setting of a new workstream; undefined if all are supported. */
function refusedIn(request: z.output<typeof Create>): { path: string[]; message: string } | undefined {
  const field = NOT_SUPPORTED.find((name) => !isDefault(Reflect.get(request, name)));
  return field && { path: [field], message: 'not supported; leave it out' };
}

/** Workstreams belong to no project. */
const Kind = { kind: z.enum(WORKSTREAM_KINDS), parent_ws_id: z.string().nullable(), project_id: z.null() };

/** Workstreams, their conversations and their approvals. */
export const workstreamEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams',
    summary: 'Loaded workstreams, and those that wait for their machine.',
    scope: 'read',
    request: () => z.object({}),
    reply: () =>
      z.object({
        workstreams: z.array(
          z.object({
            id: z.string(),
            ws_id: z.string(),
            name: z.string(),
            state: WorkstreamState,
            ...Kind,
            title: z.string().nullable(),
            model_alias: z.string(),
            message_count: z.int(),
            created: z.string(),
            updated: z.string(),
            ...WAITING_FIELD,
            ...OWNED_FIELDS,
          }),
        ),
      }),
  }),
  saved: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/saved',
    summary: 'Stored workstreams, most recently updated first.',
    scope: 'read',
    request: () => z.object({ limit: z.coerce.number().int().min(1).max(500).optional() }),
    reply: () =>
      z.object({
        workstreams: z.array(
          z.object({
            ws_id: z.string(),
            alias: z.string().nullable(),
            title: z.string().nullable(),
            created: z.string(),
            updated: z.string(),
            message_count: z.int(),
            name: z.string(),
            state: WorkstreamState,
            loaded: z.boolean(),
            ...Kind,
            node_id: z.string(),
            model_alias: z.string(),
            child_count: z.int().min(0),
            context_tokens: z.int(),
            context_ratio: z.number(),
            ...OWNED_FIELDS,
          }),
        ),
      }),
  }),
  dashboard: endpoint({
    verb: 'get',
    path: '/v1/api/dashboard',
    summary: 'What the loaded workstreams do, and what they have used.',
    scope: 'read',
    request: () => z.object({}),
    reply: () =>
      z.object({
        workstreams: z.array(
          z.object({
            id: z.string(),
            ws_id: z.string(),
            name: z.string(),
            state: WorkstreamState,
            title: z.string().nullable(),
            tokens: z.int(),
            context_ratio: z.number(),
            activity: z.string(),
            activity_state: Activity,
            tool_calls: z.int(),
            node: z.string(),
            model: z.string(),
            model_alias: z.string(),
          }),
        ),
        aggregate: z.object({
          total_tokens: z.int(),
          total_tool_calls: z.int(),
          active_count: z.int(),
          total_count: z.int(),
          uptime_seconds: z.number(),
          node: z.string(),
        }),
      }),
  }),
  create: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/new',
    summary: 'Create a workstream, or reopen a stored one.',
    scope: 'write',
    /** In a form, the field `meta` has the JSON, and each field `file` a file. */
    formToo: true,
    request: () =>
      Create.superRefine((request, { addIssue }) => {
        const refused = refusedIn(request);
        if (refused) addIssue({ code: 'custom', ...refused });
      }),
    reply: () =>
      z.object({
        ws_id: z.string(),
        name: z.string(),
        resumed: z.boolean(),
        message_count: z.int(),
        /** With `initial_message`. */
        initial_message_status: z.enum(['ok', 'queued']).optional(),
        run_id: z.string().optional(),
        /** The files of the form, in its order. */
        attachment_ids: z.array(z.string()).optional(),
      }),
    errors: {
      400: 'Maximum of N workstreams reached, or Template not found: x',
      404: 'coordinator not found',
      409: 'Workstream already exists, or "x" names several workstreams: … Use one of these ids.',
      413: 'The file is too large',
    },
    idempotencyKey: true,
  }),
  close: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/close',
    summary: 'Unload a workstream; its conversation stays saved.',
    scope: 'write',
    request: () => z.object({ ws_id: WsId }),
    reply: () => Ok,
    errors: { 400: 'Cannot close last workstream', ...UNKNOWN },
  }),
  send: endpoint({
    verb: 'post',
    path: '/v1/api/send',
    summary: 'Give a workstream one user message; its reply arrives as events.',
    scope: 'write',
    request: () =>
      z.object({
        message: z.string().default(''),
        ws_id: WsId,
        /** Default: all uploaded attachments that were not sent yet; empty: none. */
        attachment_ids: z.array(z.string().max(128)).optional(),
      }),
    reply: () =>
      z.object({
        status: z.enum(['ok', 'busy']),
        run_id: z.string().optional(),
        attached_ids: z.array(z.string()).optional(),
        dropped_attachment_ids: z.array(z.string()).optional(),
      }),
    errors: { 400: 'Empty message', ...UNKNOWN },
    idempotencyKey: true,
  }),
  approve: endpoint({
    verb: 'post',
    path: '/v1/api/approve',
    summary: 'Decide the pending approval. Without `approved`, answers 400 and decides nothing.',
    scope: 'approve',
    request: () =>
      z.object({
        approved: z.boolean({ error: 'must be true or false' }),
        feedback: text,
        always: z.boolean().default(false),
        ...FINER_FIELDS,
        ws_id: WsId,
        approval_id: text,
        /** Another way to name the approval: one of its calls. */
        call_id: text,
        /** The name of `approval_id` in later releases. */
        cycle_id: text,
        /** A button of a notification was pressed, which needs a login that was confirmed less than five minutes ago. */
        from_notification: z.boolean().optional(),
      }),
    reply: () => Ok,
    errors: {
      400: 'approved: must be true or false',
      409: 'The approval was already decided, stale call_id or stale cycle_id',
      ...UNKNOWN,
    },
    idempotencyKey: true,
  }),
  cancel: endpoint({
    verb: 'post',
    path: '/v1/api/cancel',
    summary: 'Stop the current run; the answer lists what was stopped.',
    scope: 'write',
    request: () => z.object({ ws_id: WsId, force: z.unknown().optional() }),
    reply: () =>
      z.object({
        status: z.literal('ok'),
        dropped: z.object({
          was_running: z.boolean(),
          pending_approval: z
            .object({ approval_id: z.string(), tool_names: z.array(z.string()), call_id: z.string().nullable() })
            .nullable(),
          stopped_tools: z.array(z.string()),
          sub_agents: z.int().optional(), // how many had not ended
          background_commands: z.int().optional(), // how many were ended
          queued_messages: z.object({ count: z.int(), first_preview: z.string().nullable() }),
        }),
      }),
    errors: { 400: 'No session', ...UNKNOWN },
  }),
  command: endpoint({
    verb: 'post',
    path: '/v1/api/command',
    summary: 'Run a slash command; its output arrives as events.',
    scope: 'write',
    request: () => z.object({ command: z.string().default(''), ws_id: WsId }),
    reply: () => z.object({ status: z.literal('ok'), ws_id: z.string(), error: z.string().optional() }),
    errors: { 400: 'Empty command', ...UNKNOWN },
  }),
};
