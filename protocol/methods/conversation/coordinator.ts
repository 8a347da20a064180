import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';
import { WorkstreamState } from '../../stream-events.ts';
import { WORKSTREAM_KINDS } from './kinds.ts';

const Count = z.int().min(0);
const WsId = z.string().max(128);

/** The most tools that one call takes away from a coordinator. */
export const REVOKED_AT_ONCE = 256;
/** The characters of the name of such a tool. */
export const TOOL_NAME_CHARS = 128;
/** The bytes of the reason for closing all children. */
export const CLOSE_REASON_BYTES = 512;

/** A coordinator, and what holds for its whole tree. */
export const Coordinator = z
  .strictObject({
    wsId: NonEmpty,
    name: NonEmpty,
    state: WorkstreamState,
    /** The coordinator that it works for; absent: none. */
    parentWsId: z.string().optional(),
    /** Messages to its children go without asking. */
    trustSend: z.boolean(),
    /** When that ends; absent: never, or it is off. */
    trustUntilMs: Count.optional(),
    /** Tools that neither it nor its children may use; those taken from a coordinator above it count, too. */
    revokedTools: z.array(z.string()),
    /** Its own children that are not closed. */
    openChildren: Count,
  })
  .meta({ id: 'Coordinator' });
export type Coordinator = z.infer<typeof Coordinator>;

/** A workstream that works for a coordinator. */
export const CoordinatorChild = z
  .strictObject({
    wsId: NonEmpty,
    nodeId: NonEmpty,
    name: NonEmpty,
    state: WorkstreamState,
    /** False: it is closed. */
    isOpen: z.boolean(),
    kind: z.enum(WORKSTREAM_KINDS),
    parentWsId: NonEmpty,
    /** Its skill, or the template that it was created with: the id of a stored skill, otherwise a name; empty: none. */
    skill: z.string(),
    skillVersion: z.string(),
    createdMs: Count,
    updatedMs: Count,
  })
  .meta({ id: 'CoordinatorChild' });
export type CoordinatorChild = z.infer<typeof CoordinatorChild>;

/** What a child does, or that it is closed. */
export const ChildState = z.enum([...WorkstreamState.options, 'closed']);
export type ChildState = z.infer<typeof ChildState>;

/** What a task of a coordinator can be. */
export const TASK_STATES = ['pending', 'in_progress', 'done', 'blocked', 'needs_user'] as const;

/** One entry of the list that a coordinator keeps. */
export const CoordinatorTask = z
  .strictObject({
    id: NonEmpty,
    title: z.string(),
    status: z.enum(TASK_STATES),
    /** The workstream that does it; empty: none. */
    childWsId: z.string(),
    note: z.string(),
    createdMs: Count,
    updatedMs: Count,
  })
  .meta({ id: 'CoordinatorTask' });
export type CoordinatorTask = z.infer<typeof CoordinatorTask>;

const Ok = { status: z.literal('ok') };
const Ids = z.array(z.string());
/** What became of the other children, by their ids. `skipped`: there was nothing to do. */
const Others = { failed: Ids, skipped: Ids };

/** Coordinators, which have other workstreams work for them. A closed one does not exist here. */
export const coordinatorContracts = {
  'coordinator.list': contract({
    summary: 'The coordinators that are not closed.',
    scope: 'read',
    weight: 3,
    params: () => z.strictObject({ wsId: optionalText(128) }).meta({ id: 'CoordinatorListParams' }),
    result: () => z.strictObject({ coordinators: z.array(Coordinator) }).meta({ id: 'CoordinatorListResult' }),
  }),
  'coordinator.children': contract({
    summary: 'The own children of a coordinator, in the order of their creation.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({ wsId: WsId, limit: z.int().min(1).max(500).optional() })
        .meta({ id: 'CoordinatorChildrenParams' }),
    result: () =>
      z
        .strictObject({ items: z.array(CoordinatorChild), truncated: z.boolean() })
        .meta({ id: 'CoordinatorChildrenResult' }),
  }),
  'coordinator.tasks': contract({
    summary: 'The list of tasks that a coordinator keeps.',
    scope: 'read',
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'CoordinatorTasksParams' }),
    result: () =>
      z.strictObject({ version: z.literal(1), tasks: z.array(CoordinatorTask) }).meta({ id: 'CoordinatorTasksResult' }),
  }),
  'coordinator.metrics': contract({
    summary: 'Figures of a coordinator: its children, its waits, and how often the judge gave no verdict.',
    scope: 'read',
    weight: 3,
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'CoordinatorMetricsParams' }),
    result: () =>
      z
        .strictObject({
          wsId: NonEmpty,
          /** Its own children that exist, also closed ones. */
          spawnsTotal: Count,
          /** Those of the last 60 minutes. */
          spawnsLastHour: Count,
          /** Its own children by their states; states without one are left out. */
          childStates: z.partialRecord(ChildState, Count),
          /** The share of the sample for which the model that judges should have given a verdict and gave none. */
          judgeFallbackRate: z.number().min(0).max(1),
          /** How many verdicts about calls of the coordinator that is: the latest ones. */
          verdictSample: Count,
          /** Waits for workstreams that ended because these were idle. */
          waitCompletions: Count,
          /** Waits whose time was over. */
          waitTimeouts: Count,
          /** Of both; 0: there were none. */
          waitAvgElapsedMs: Count,
        })
        .meta({ id: 'CoordinatorMetricsResult' }),
  }),
  'coordinator.trust': contract({
    summary: 'Let messages of a coordinator to workstreams below it go without asking, or have each one ask again.',
    scope: 'approve',
    permission: 'admin.coordinator',
    refusesServices: true,
    stepUp: ({ send }) => send,
    audit: { action: 'coordinator.trust.toggled', id: 'wsId', of: 'workstream' },
    params: () => z.strictObject({ wsId: WsId, send: z.boolean() }).meta({ id: 'CoordinatorTrustParams' }),
    result: () =>
      z
        .strictObject({ ...Ok, trustSend: z.boolean(), trustUntilMs: Count.optional() })
        .meta({ id: 'CoordinatorTrustResult' }),
  }),
  'coordinator.restrict': contract({
    summary: 'Take tools away from a coordinator and everything below it, for good.',
    scope: 'approve',
    permission: 'admin.coordinator',
    refusesServices: true,
    audit: { action: 'coordinator.restricted', id: 'wsId', of: 'workstream' },
    params: () =>
      z
        .strictObject({ wsId: WsId, revoke: z.array(z.string().min(1).max(TOOL_NAME_CHARS)).max(REVOKED_AT_ONCE) })
        .meta({ id: 'CoordinatorRestrictParams' }),
    result: () => z.strictObject({ ...Ok, revokedTools: Ids }).meta({ id: 'CoordinatorRestrictResult' }),
  }),
  'coordinator.stop': contract({
    summary: 'Cancel what a coordinator and its own children do now.',
    scope: 'approve',
    permission: 'admin.coordinator',
    refusesServices: true,
    weight: 3,
    audit: { action: 'coordinator.stopped_cascade', id: 'wsId', of: 'workstream' },
    serial: ({ wsId }) => `coordinator ${wsId}`,
    params: () => z.strictObject({ wsId: WsId }).meta({ id: 'CoordinatorStopParams' }),
    result: () => z.strictObject({ ...Ok, cancelled: Ids, ...Others }).meta({ id: 'CoordinatorStopResult' }),
  }),
  'coordinator.close': contract({
    summary: 'Close the own children of a coordinator; their conversations stay saved.',
    scope: 'approve',
    permission: 'admin.coordinator',
    refusesServices: true,
    weight: 3,
    audit: { action: 'coordinator.closed_children', id: 'wsId', of: 'workstream' },
    serial: ({ wsId }) => `coordinator ${wsId}`,
    params: () =>
      z
        .strictObject({
          wsId: WsId,
          /** Stored in the audit trail. */
          reason: optionalText(CLOSE_REASON_BYTES),
        })
        .meta({ id: 'CoordinatorCloseParams' }),
    result: () => z.strictObject({ ...Ok, closed: Ids, ...Others }).meta({ id: 'CoordinatorCloseResult' }),
  }),
};
