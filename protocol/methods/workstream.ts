import { z } from 'zod';
import { contract } from '../contract.ts';
import { BackgroundCommand } from '../events/background-command.ts';
import { TodoItem } from '../events/todo.ts';
import { NonEmpty, nullishText, optionalKey, optionalText } from '../frames.ts';
import { Effort, HistoryMessage, HistoryNote, StatusRecord } from '../stream-events.ts';
import { DECIDING } from './accounts/permissions.ts';
import { Approval, FINER } from './approval.ts';
import { creationContracts } from './conversation/creation.ts';
import { listingContracts, WorkstreamRow } from './conversation/listing.ts';
import { portableContracts } from './conversation/portable.ts';
import { sharingContracts } from './conversation/sharing.ts';
import { storedContracts } from './conversation/stored.ts';
import { takingBackContracts } from './conversation/taking-back.ts';
import { titleContracts } from './conversation/title.ts';

const Count = z.int().min(0);
const WsId = z.string();

/** One workstream at a cursor of its log. */
export const WorkstreamSnapshot = z
  .strictObject({
    workstream: WorkstreamRow,
    model: z.string(),
    workdir: z.string(),
    messages: z.array(HistoryMessage),
    /** Older messages exist: `workstream.history` with `before` = the first `seq`. */
    truncated: z.boolean(),
    /** The notes between these messages, oldest first; absent if there are none. */
    notes: z.array(HistoryNote).optional(),
    pendingApprovals: z.array(Approval),
    /** The only tools that run without asking; absent unless auto-approve covers just these. */
    autoApproveTools: z.array(z.string()).optional(),
    judgeModel: z.string().optional(),
    /** The labels that its machine needs; absent if there are none. */
    machineLabels: z.array(z.string()).optional(),
    /** The background commands that run; absent if there are none. */
    backgroundCommands: z.array(BackgroundCommand).optional(),
    status: StatusRecord.optional(),
    /** The agent's checklist, as its last call of `todo` left it; absent if there was none lately. */
    todo: z.array(TodoItem).optional(),
    effort: Effort,
  })
  .meta({ id: 'WorkstreamSnapshot' });
export type WorkstreamSnapshot = z.infer<typeof WorkstreamSnapshot>;

/** What a cancel stopped. */
export const CancelReceipt = z
  .strictObject({
    wasRunning: z.boolean(),
    /** The tool calls that waited for approval and are now denied. */
    pendingApproval: z
      .strictObject({
        approvalId: z.string(),
        toolNames: z.array(z.string()),
        /** The first of them; absent if the question was about no call. */
        callId: z.string().optional(),
      })
      .nullable(),
    /** Tool calls that were running and were stopped. */
    stoppedTools: z.array(z.string()),
    /** How many background commands were ended; absent if there were none. */
    backgroundCommands: Count.optional(),
    /** Sub-agents that had not ended; absent if there were none. `stoppedTools` has their tools, too. */
    subAgents: Count.optional(),
    /** Queued runs that were dropped with the cancelled one. */
    queuedMessages: z.strictObject({ count: Count, firstPreview: z.string().nullable() }),
  })
  .meta({ id: 'CancelReceipt' });
export type CancelReceipt = z.infer<typeof CancelReceipt>;

/** A slash command that a project keeps in a file; it sends a message. */
export const ProjectCommand = z
  .strictObject({
    /** Without its slash. */
    name: NonEmpty,
    /** Its argument, as its author describes it. */
    argument: z.string().optional(),
    summary: z.string(),
  })
  .meta({ id: 'ProjectCommand' });
export type ProjectCommand = z.infer<typeof ProjectCommand>;

const Ok = z.strictObject({ status: z.literal('ok') }).meta({ id: 'WorkstreamOk' });

/** Creates, lists, changes, stops and closes workstreams, and sends them messages. */
export const workstreamContracts = {
  ...listingContracts,
  ...titleContracts,
  ...creationContracts,
  'workstream.get': contract({
    summary: 'One workstream with the last page of its messages.',
    scope: 'read',
    weight: 3,
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'WorkstreamGetParams' }),
    result: () =>
      z.strictObject({ cursor: z.string(), snapshot: WorkstreamSnapshot }).meta({ id: 'WorkstreamGetResult' }),
  }),
  'workstream.history': contract({
    summary: 'A page of stored messages, and the notes between them, oldest first, ending before `before`.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          before: Count.optional(),
          limit: z.int().min(1).max(500).optional(),
          /** End where the log continues at the returned `cursor`: before the turn in progress. Ignored with `before`. */
          withCursor: z.boolean().optional(),
        })
        .meta({ id: 'WorkstreamHistoryParams' }),
    result: () =>
      z
        .strictObject({
          messages: z.array(HistoryMessage),
          truncated: z.boolean(),
          /** The notes between these messages, oldest first; absent if there are none. */
          notes: z.array(HistoryNote).optional(),
          cursor: z.string().optional(),
        })
        .meta({ id: 'WorkstreamHistoryResult' }),
  }),
  'workstream.send': contract({
    summary: 'Give a workstream one user message; its reply arrives as events.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          message: z.string(),
          /** Uploaded files; `pending`: all files of the caller that were not sent yet. */
          attachmentIds: z.union([z.array(z.string().max(128)), z.literal('pending')]).optional(),
          /** During a run the message waits (see `queue.list`), instead of the answer `busy`. */
          queue: z.boolean().optional(),
          /** Like `queue`, but the model reads the message at the next turn of the run in progress. */
          steer: z.boolean().optional(),
          /** The client's own name for the message, in this workstream. Default: `idempotencyKey`. */
          clientSendId: optionalText(128),
          idempotencyKey: optionalKey(),
        })
        .meta({ id: 'WorkstreamSendParams' }),
    result: () =>
      z
        .strictObject({
          status: z.enum(['ok', 'busy']),
          runId: z.string().optional(),
          /** The message waits in the queue. */
          queued: z.literal(true).optional(),
          /** Absent if the message has none. */
          attachedIds: z.array(z.string()).optional(),
          /** Requested files that are unknown, belong to another caller, or were already sent. Absent if there are none. */
          droppedIds: z.array(z.string()).optional(),
        })
        .meta({ id: 'WorkstreamSendResult' }),
    idempotency: 'optional',
  }),
  'workstream.approve': contract({
    summary:
      'Decide the pending approval of a workstream; with approvalId, callId or cycleId only that one (CONFLICT if stale).',
    scope: 'approve',
    permission: DECIDING,
    audit: { action: 'approval.resolve', id: 'approvalId', by: 'handler' },
    stepUp: ({ always, rules, fromNotification }) => Boolean(always || fromNotification || rules?.length),
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          approved: z.boolean(),
          feedback: nullishText(16_384),
          always: z.boolean().optional(),
          ...FINER,
          approvalId: optionalText(),
          /** One of the calls of the approval. Another one is CONFLICT. */
          callId: optionalText(),
          /** Another name of approvalId, but an unknown one is CONFLICT, too. */
          cycleId: optionalText(),
          /** A button of a notification was pressed, perhaps by whoever holds the device: needs a fresh proof. */
          fromNotification: z.boolean().optional(),
          idempotencyKey: optionalKey(),
        })
        .meta({ id: 'WorkstreamApproveParams' }),
    result: () =>
      z
        .strictObject({
          status: z.literal('ok'),
          /** The approval that was decided; absent if none was pending. */
          approvalId: z.string().optional(),
        })
        .meta({ id: 'WorkstreamApproveResult' }),
    idempotency: 'optional',
  }),
  'workstream.cancel': contract({
    summary: 'Stop the current run; `force` abandons it at once.',
    scope: 'write',
    params: () => z.strictObject({ wsId: WsId, force: z.boolean().optional() }).meta({ id: 'WorkstreamCancelParams' }),
    result: () =>
      z.strictObject({ status: z.literal('ok'), dropped: CancelReceipt }).meta({ id: 'WorkstreamCancelResult' }),
  }),
  'workstream.proceed': contract({
    summary: 'End a wait for the model’s server: the request is repeated at once, and held messages are sent.',
    scope: 'write',
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'WorkstreamProceedParams' }),
    result: () =>
      z
        .strictObject({
          status: z.literal('ok'),
          /** False: there was no wait to end, and no message was held. */
          wasWaiting: z.boolean(),
        })
        .meta({ id: 'WorkstreamProceedResult' }),
  }),
  'workstream.command': contract({
    summary: 'Run a slash command; its output arrives as events.',
    scope: 'write',
    weight: 3,
    params: () => z.strictObject({ wsId: WsId, command: z.string().max(4096) }).meta({ id: 'WorkstreamCommandParams' }),
    result: () =>
      z
        .strictObject({
          status: z.literal('ok'),
          wsId: NonEmpty,
          error: z.string().optional().describe('Why the command did nothing; its event says the same.'),
        })
        .meta({ id: 'WorkstreamCommandResult' }),
    serial: ({ wsId }: { wsId: string }) => wsId,
  }),
  'workstream.commands': contract({
    summary: 'The slash commands that the project of a workstream keeps in files.',
    scope: 'read',
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'WorkstreamCommandsParams' }),
    result: () => z.strictObject({ commands: z.array(ProjectCommand) }).meta({ id: 'WorkstreamCommandsResult' }),
  }),
  ...takingBackContracts,
  ...portableContracts,
  ...storedContracts,
  ...sharingContracts,
  'workstream.close': contract({
    summary: 'Unload a workstream; its conversation stays saved.',
    scope: 'write',
    permission: 'workstreams.close',
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'WorkstreamCloseParams' }),
    result: () => Ok,
  }),
};
