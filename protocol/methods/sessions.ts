import { z } from 'zod';
import { contract } from '../contract.ts';
import { NonEmpty, optionalText } from '../frames.ts';

const Count = z.int().min(0);

/** A session as the specification defines it. Absent fields are unknown. */
export const SessionRow = z
  .strictObject({
    key: NonEmpty,
    kind: z.enum(['direct', 'group', 'global', 'unknown']),
    updatedAt: Count.nullable(),
    sessionId: z.string(),
    abortedLastRun: z.boolean().optional(),
    thinkingLevel: z.string().optional(),
    verboseLevel: z.string().optional(),
    inputTokens: Count.optional(),
    outputTokens: Count.optional(),
    totalTokens: Count.optional(),
    model: z.string().optional(),
    contextTokens: Count.optional(),
  })
  .meta({ id: 'SessionRow' });
export type SessionRow = z.infer<typeof SessionRow>;

const SessionEntry = z.strictObject({
  sessionId: z.string(),
  updatedAt: Count,
  thinkingLevel: z.string().optional(),
  verboseLevel: z.string().optional(),
});

const SessionPreview = z
  .strictObject({
    key: NonEmpty,
    /** `error`: its part of the database is damaged. */
    status: z.enum(['ok', 'empty', 'missing', 'error']),
    items: z.array(z.strictObject({ role: z.enum(['user', 'assistant', 'tool']), text: z.string() })),
  })
  .meta({ id: 'SessionPreview' });
export type SessionPreview = z.infer<typeof SessionPreview>;

/** Sessions: the gateway protocol’s view of workstreams. */
export const sessionsContracts = {
  'sessions.list': contract({
    summary: 'Sessions, most recently updated first.',
    scope: 'read',
    params: () =>
      z
        .strictObject({
          limit: z.int().min(1).optional(),
          activeMinutes: z.int().min(1).optional(),
          includeGlobal: z.boolean().optional(),
          includeUnknown: z.boolean().optional(),
        })
        .meta({ id: 'SessionsListParams' }),
    result: () =>
      z
        .strictObject({
          ts: Count,
          path: z.string(),
          count: Count,
          defaults: z.strictObject({ model: z.string().nullable(), contextTokens: Count.nullable() }),
          sessions: z.array(SessionRow),
        })
        .meta({ id: 'SessionsListResult' }),
  }),
  'sessions.patch': contract({
    summary: 'Set or clear (null) a session setting; an unknown key creates the session.',
    scope: 'write',
    params: () =>
      z
        .strictObject({
          key: NonEmpty,
          thinkingLevel: NonEmpty.nullable().optional(),
          verboseLevel: NonEmpty.nullable().optional(),
        })
        .meta({ id: 'SessionsPatchParams' }),
    result: () =>
      z
        .strictObject({
          ok: z.literal(true),
          path: z.string(),
          key: NonEmpty,
          entry: SessionEntry,
        })
        .meta({ id: 'SessionsPatchResult' }),
  }),
  'sessions.reset': contract({
    summary: 'Start a new conversation in a session; the current one is saved. A run in progress is cancelled.',
    scope: 'write',
    params: () => z.strictObject({ key: NonEmpty }).meta({ id: 'SessionsResetParams' }),
    result: () =>
      z.strictObject({ ok: z.literal(true), key: NonEmpty, entry: SessionEntry }).meta({ id: 'SessionsResetResult' }),
  }),
  'sessions.delete': contract({
    summary: 'Delete a session with its messages (`deleteTranscript: false` keeps them as a saved conversation).',
    scope: 'approve',
    permission: 'approve',
    audit: { action: 'sessions.delete', id: 'key', by: 'handler' },
    params: () =>
      z
        .strictObject({ key: NonEmpty, deleteTranscript: z.boolean().default(true) })
        .meta({ id: 'SessionsDeleteParams' }),
    result: () =>
      z
        .strictObject({ ok: z.literal(true), key: NonEmpty, deleted: z.boolean(), archived: z.array(z.string()) })
        .meta({ id: 'SessionsDeleteResult' }),
  }),
  'sessions.compact': contract({
    summary: 'Limit what the model reads from now on to about the last `maxLines` messages.',
    scope: 'write',
    params: () =>
      z
        .strictObject({ key: NonEmpty, maxLines: z.int().min(1).max(10_000).default(400) })
        .meta({ id: 'SessionsCompactParams' }),
    result: () =>
      z
        .strictObject({
          ok: z.literal(true),
          key: NonEmpty,
          compacted: z.boolean(),
          /** Messages that the model still reads. */
          kept: Count.optional(),
          reason: z.string().optional(),
        })
        .meta({ id: 'SessionsCompactResult' }),
  }),
  'sessions.preview': contract({
    summary: 'The last messages of several sessions, shortened.',
    scope: 'read',
    params: () =>
      z
        .strictObject({
          /** Only the first 64 are used. */
          keys: z.array(NonEmpty).min(1),
          limit: z.int().min(1).max(50).default(12),
          maxChars: z.int().min(20).max(2_000).default(240),
        })
        .meta({ id: 'SessionsPreviewParams' }),
    result: () =>
      z.strictObject({ ts: Count, previews: z.array(SessionPreview) }).meta({ id: 'SessionsPreviewResult' }),
  }),
  'sessions.resolve': contract({
    summary: 'The canonical key of a session, by its key, id or label. Does not open the session.',
    scope: 'read',
    params: () =>
      z
        .strictObject({ key: optionalText(), sessionId: optionalText(), label: optionalText() })
        .refine((given) => Object.values(given).filter((value) => value !== undefined).length === 1, {
          message: 'give exactly one of key, sessionId and label',
        })
        .meta({ id: 'SessionsResolveParams' }),
    result: () => z.strictObject({ ok: z.literal(true), key: NonEmpty }).meta({ id: 'SessionsResolveResult' }),
  }),
};
