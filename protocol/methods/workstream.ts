import { z } from 'zod';
import { contract } from '../contract.ts';
import { NonEmpty, nullishText, optionalKey, optionalText } from '../frames.ts';
import { HistoryMessage, HistoryNote, StatusRecord, WorkstreamState } from '../stream-events.ts';
import { Approval } from './approval.ts';

const Count = z.int().min(0);
const WsId = z.string();

/** A workstream that is open, as lists show it. */
export const WorkstreamRow = z
  .strictObject({
    wsId: NonEmpty,
    /** The alias if set, otherwise the name that it was made with, or the generated `ws-xxxx`. May repeat. */
    name: NonEmpty,
    sessionKey: NonEmpty,
    state: WorkstreamState,
    title: z.string().nullable(),
    modelAlias: z.string(),
    skipPermissions: z.boolean(),
    /** When auto-approve ends; absent when it is off or has no end. */
    skipPermissionsUntilMs: Count.optional(),
    messageCount: Count,
    createdMs: Count,
    updatedMs: Count,
  })
  .meta({ id: 'WorkstreamRow' });
export type WorkstreamRow = z.infer<typeof WorkstreamRow>;

/** A conversation that is kept, whether it is open (`loaded`) or not. */
export const SavedWorkstream = z
  .strictObject({
    wsId: NonEmpty,
    /** What a person has named it; null while nobody has. */
    alias: z.string().nullable(),
    name: NonEmpty,
    title: z.string().nullable(),
    createdMs: Count,
    updatedMs: Count,
    messageCount: Count,
    loaded: z.boolean(),
  })
  .meta({ id: 'SavedWorkstream' });

/** One workstream at a cursor of its log. */
export const WorkstreamSnapshot = z
  .strictObject({
    workstream: WorkstreamRow,
    model: z.string(),
    workdir: z.string(),
    messages: z.array(HistoryMessage),
    /** Older messages exist: `workstream.history` with `before` = the first `seq`. */
    truncated: z.boolean(),
    /** What stands between these messages, oldest first; absent when nothing does. */
    notes: z.array(HistoryNote).optional(),
    pendingApprovals: z.array(Approval),
    status: StatusRecord.optional(),
  })
  .meta({ id: 'WorkstreamSnapshot' });
export type WorkstreamSnapshot = z.infer<typeof WorkstreamSnapshot>;

/** What a cancel stopped. */
export const CancelReceipt = z
  .strictObject({
    wasRunning: z.boolean(),
    /** The tool calls that waited for approval and are now denied. */
    pendingApproval: z.strictObject({ approvalId: z.string(), toolNames: z.array(z.string()) }).nullable(),
    /** Tool calls that were running and were stopped. */
    stoppedTools: z.array(z.string()),
    /** Runs that waited behind the cancelled one and were dropped with it. */
    queuedMessages: z.strictObject({ count: Count, firstPreview: z.string().nullable() }),
  })
  .meta({ id: 'CancelReceipt' });
export type CancelReceipt = z.infer<typeof CancelReceipt>;

const Ok = z.strictObject({ status: z.literal('ok') }).meta({ id: 'WorkstreamOk' });

/** Workstreams: made, listed, written to, stopped, changed, closed. */
export const workstreamContracts = {
  'workstream.list': contract({
    summary: 'Loaded workstreams, in the order they were made.',
    scope: 'read',
    params: z.strictObject({}).meta({ id: 'WorkstreamListParams' }),
    result: z.strictObject({ workstreams: z.array(WorkstreamRow) }).meta({ id: 'WorkstreamListResult' }),
  }),
  'workstream.saved': contract({
    summary: 'Stored workstreams, most recently updated first.',
    scope: 'read',
    weight: 3,
    params: z
      .strictObject({
        limit: z.int().min(1).max(500).optional(),
        /** With `beforeWsId`: `updatedMs` and `wsId` of the last one that was read. Alone it skips its equals. */
        before: Count.optional(),
        beforeWsId: optionalText(128),
        /** Words; each is in the name or the title. */
        search: optionalText(256),
      })
      .meta({ id: 'WorkstreamSavedParams' }),
    result: z.strictObject({ workstreams: z.array(SavedWorkstream) }).meta({ id: 'WorkstreamSavedResult' }),
  }),
  'workstream.create': contract({
    summary: 'Make a workstream, or reopen a stored one with resumeWs.',
    scope: 'write',
    weight: 3,
    params: z
      .strictObject({
        name: optionalText(128),
        model: optionalText(256),
        autoApprove: z.boolean().optional(),
        resumeWs: optionalText(128),
        workdir: optionalText(4096),
        idempotencyKey: optionalKey(),
      })
      .meta({ id: 'WorkstreamCreateParams' }),
    result: z
      .strictObject({ wsId: NonEmpty, name: NonEmpty, resumed: z.boolean(), messageCount: Count })
      .meta({ id: 'WorkstreamCreateResult' }),
    idempotency: 'optional',
  }),
  'workstream.get': contract({
    summary: 'One workstream with the last page of its messages.',
    scope: 'read',
    weight: 3,
    params: z.strictObject({ wsId: WsId }).meta({ id: 'WorkstreamGetParams' }),
    result: z.strictObject({ cursor: z.string(), snapshot: WorkstreamSnapshot }).meta({ id: 'WorkstreamGetResult' }),
  }),
  'workstream.history': contract({
    summary: 'A page of stored messages, and the notes between them, oldest first, ending before `before`.',
    scope: 'read',
    weight: 3,
    params: z
      .strictObject({ wsId: WsId, before: Count.optional(), limit: z.int().min(1).max(500).optional() })
      .meta({ id: 'WorkstreamHistoryParams' }),
    result: z
      .strictObject({
        messages: z.array(HistoryMessage),
        truncated: z.boolean(),
        /** What stands between these messages, oldest first; absent when nothing does. */
        notes: z.array(HistoryNote).optional(),
      })
      .meta({ id: 'WorkstreamHistoryResult' }),
  }),
  'workstream.update': contract({
    summary: 'Rename, choose another model, or set auto-approve or folders (which needs the approve scope).',
    scope: 'write',
    params: z
      .strictObject({
        wsId: WsId,
        /** Empty: the name is removed, and the generated one counts. */
        name: z.string().max(128).optional(),
        model: optionalText(256),
        autoApprove: z.boolean().optional(),
        /** Takes the folder that lies at the path of the working directory now. */
        confirmWorkdir: z.literal(true).optional(),
        /** Absolute paths of all further folders that may be read without a question. */
        readable: z.array(z.string().min(1).max(4096)).max(32).optional(),
      })
      .meta({ id: 'WorkstreamUpdateParams' }),
    result: WorkstreamRow,
  }),
  'workstream.send': contract({
    summary: 'Give a workstream one user message; its reply arrives as events.',
    scope: 'write',
    params: z
      .strictObject({
        wsId: WsId,
        message: z.string(),
        /** Uploaded before; `pending`: all of the caller's that no message has yet. */
        attachmentIds: z.union([z.array(z.string().max(128)), z.literal('pending')]).optional(),
        idempotencyKey: optionalKey(),
      })
      .meta({ id: 'WorkstreamSendParams' }),
    result: z
      .strictObject({
        status: z.enum(['ok', 'busy']),
        runId: z.string().optional(),
        /** Absent when the message has none. */
        attachedIds: z.array(z.string()).optional(),
        /** Of those asked for: unknown, another's, or sent already. Absent when there are none. */
        droppedIds: z.array(z.string()).optional(),
      })
      .meta({ id: 'WorkstreamSendResult' }),
    idempotency: 'optional',
  }),
  'workstream.approve': contract({
    summary:
      'Decide whatever waits in a workstream; with approvalId, callId or cycleId only that one (a stale one is CONFLICT).',
    scope: 'approve',
    params: z
      .strictObject({
        wsId: WsId,
        approved: z.boolean(),
        feedback: nullishText(16_384),
        always: z.boolean().optional(),
        approvalId: optionalText(),
        /** One of the calls that are asked about. Another one is CONFLICT. */
        callId: optionalText(),
        /** The approval under another name, which is CONFLICT also where it never existed. */
        cycleId: optionalText(),
        idempotencyKey: optionalKey(),
      })
      .meta({ id: 'WorkstreamApproveParams' }),
    result: Ok,
    idempotency: 'optional',
  }),
  'workstream.cancel': contract({
    summary: 'Stop what runs; `force` abandons the worker at once.',
    scope: 'write',
    params: z.strictObject({ wsId: WsId, force: z.boolean().optional() }).meta({ id: 'WorkstreamCancelParams' }),
    result: z.strictObject({ status: z.literal('ok'), dropped: CancelReceipt }).meta({ id: 'WorkstreamCancelResult' }),
  }),
  'workstream.command': contract({
    summary: 'A slash command; its output arrives as events.',
    scope: 'write',
    weight: 3,
    params: z.strictObject({ wsId: WsId, command: z.string().max(4096) }).meta({ id: 'WorkstreamCommandParams' }),
    result: z.strictObject({ status: z.literal('ok'), wsId: NonEmpty }).meta({ id: 'WorkstreamCommandResult' }),
    serial: ({ wsId }: { wsId: string }) => wsId,
  }),
  'workstream.close': contract({
    summary: 'Unload a workstream; its conversation stays saved.',
    scope: 'write',
    params: z.strictObject({ wsId: WsId }).meta({ id: 'WorkstreamCloseParams' }),
    result: Ok,
  }),
};
