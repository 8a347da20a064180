import { z } from 'zod';
import { Waiting } from '../../cluster/machine-labels.ts';
import { contract } from '../../contract.ts';
import { MODES } from '../../events/modes.ts';
import { NonEmpty, optionalText } from '../../frames.ts';
import { WorkstreamState } from '../../stream-events.ts';
import { KIND_FIELDS } from './kinds.ts';
import { OWNED } from './sharing.ts';

const Count = z.int().min(0);

/** An open workstream, as lists show it. */
export const WorkstreamRow = z
  .strictObject({
    wsId: NonEmpty,
    /** The alias if set, otherwise the name given at its creation, or the generated `ws-xxxx`. Not unique. */
    name: NonEmpty,
    sessionKey: NonEmpty,
    state: WorkstreamState,
    title: z.string().nullable(),
    modelAlias: z.string(),
    skipPermissions: z.boolean(),
    /** When auto-approve ends; absent when it is off or has no end. */
    skipPermissionsUntilMs: Count.optional(),
    /** `full` while auto-approve is on. */
    mode: z.enum(MODES),
    /** All stored messages, also cleared ones and those that were taken back. */
    messageCount: Count,
    createdMs: Count,
    updatedMs: Count,
    /** Only in lists. Absent: its machine runs it. */
    waiting: Waiting.optional(),
    ...OWNED,
    ...KIND_FIELDS,
  })
  .meta({ id: 'WorkstreamRow' });
export type WorkstreamRow = z.infer<typeof WorkstreamRow>;

/** A stored conversation, open (`loaded`) or not. */
export const SavedWorkstream = z
  .strictObject({
    wsId: NonEmpty,
    /** The name that a person gave it; null without one. */
    alias: z.string().nullable(),
    name: NonEmpty,
    title: z.string().nullable(),
    /** The folder that it works in. Absent from earlier versions. */
    workdir: z.string().optional(),
    createdMs: Count,
    updatedMs: Count,
    /** The messages that count now. */
    messageCount: Count,
    loaded: z.boolean(),
    /** Of a workstream that is not loaded: how its last run ended. */
    state: WorkstreamState,
    modelAlias: z.string(),
    /** Tokens of the context, as the model last counted them; 0 before the first answer. */
    contextTokens: Count,
    /** The part of the context window that they fill; 0 if the window is unknown. */
    contextRatio: z.number().min(0),
    /** Its own children that are not closed and that the caller perceives; absent: none. */
    childCount: Count.optional(),
    ...OWNED,
    ...KIND_FIELDS,
  })
  .meta({ id: 'SavedWorkstream' });

/** What a workstream does now. */
export const Activity = z.enum(['thinking', 'tool', 'approval', 'idle']);
export type Activity = z.infer<typeof Activity>;

const DashboardRow = z
  .strictObject({
    wsId: NonEmpty,
    name: NonEmpty,
    state: WorkstreamState,
    title: z.string().nullable(),
    /** Of all its answers so far. */
    totalTokens: Count,
    contextRatio: z.number().min(0),
    /** What `activityState` is about, such as the call that runs; one line, may be empty. */
    activity: z.string(),
    activityState: Activity,
    toolCalls: Count,
    modelAlias: z.string(),
    model: z.string(),
  })
  .meta({ id: 'DashboardRow' });

/** A message that was found by its words. */
export const FoundMessage = z
  .strictObject({
    wsId: NonEmpty,
    /** The name of its workstream that a person gave, else the title, else the generated name. */
    name: NonEmpty,
    /** Its number in the workstream. */
    seq: z.int().min(1),
    role: z.enum(['user', 'assistant']),
    createdMs: Count,
    /** The words with some text around them, in one line. */
    excerpt: z.string(),
  })
  .meta({ id: 'FoundMessage' });
export type FoundMessage = z.infer<typeof FoundMessage>;

/** Which workstreams a list or a search looks at; all of them without these. */
const NARROWING = {
  /** Only those that work in exactly this folder. */
  workdir: optionalText(4_096),
  /** Only those with this model. */
  modelAlias: optionalText(256),
  /** Only those of this owner: a user, or empty for the operator. */
  userId: z.string().max(128).optional(),
  /** Only those whose `updatedMs` is this or later. */
  updatedSinceMs: Count.optional(),
  /** Only those whose `updatedMs` is before this. */
  updatedBeforeMs: Count.optional(),
};

/** Which workstreams there are, and what they do. */
export const listingContracts = {
  'workstream.list': contract({
    summary: 'Loaded workstreams, and those that wait for their machine, in the order of their creation.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'WorkstreamListParams' }),
    result: () => z.strictObject({ workstreams: z.array(WorkstreamRow) }).meta({ id: 'WorkstreamListResult' }),
  }),
  'workstream.saved': contract({
    summary: 'Stored workstreams, most recently updated first.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({
          limit: z.int().min(1).max(500).optional(),
          /** With `beforeWsId`: `updatedMs` and `wsId` of the last row read. Without it, rows with an equal time are skipped. */
          before: Count.optional(),
          beforeWsId: optionalText(128),
          /** Words, each of which has to be in the name or the title. */
          search: optionalText(256),
          ...NARROWING,
        })
        .meta({ id: 'WorkstreamSavedParams' }),
    result: () =>
      z.strictObject({ workstreams: z.array(SavedWorkstream), nodeId: NonEmpty }).meta({ id: 'WorkstreamSavedResult' }),
  }),
  'workstream.find': contract({
    summary:
      'Messages of people and the model with all words of a query, the best first, in loaded and stored workstreams.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({
          /** Words, each of which has to be in the message, or begin one of its words. */
          query: z.string().min(1).max(256),
          limit: z.int().min(1).max(50).optional(),
          ...NARROWING,
        })
        .meta({ id: 'WorkstreamFindParams' }),
    result: () =>
      z
        .strictObject({
          messages: z.array(FoundMessage),
          /** Older messages are not in the index yet; the next search continues with them. */
          isIncomplete: z.boolean(),
        })
        .meta({ id: 'WorkstreamFindResult' }),
  }),
  'workstream.dashboard': contract({
    summary: 'What the loaded workstreams do, and what they have used.',
    scope: 'read',
    weight: 3,
    params: () => z.strictObject({}).meta({ id: 'WorkstreamDashboardParams' }),
    result: () =>
      z
        .strictObject({
          workstreams: z.array(DashboardRow),
          /** Of these workstreams. */
          totalTokens: Count,
          totalToolCalls: Count,
          /** Those that are neither idle nor in error. */
          activeCount: Count,
          uptimeSeconds: z.number().min(0),
          nodeId: NonEmpty,
        })
        .meta({ id: 'WorkstreamDashboardResult' }),
  }),
};
