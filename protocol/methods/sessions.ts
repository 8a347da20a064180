import { z } from 'zod';
import { contract } from '../contract.ts';
import { NonEmpty } from '../frames.ts';

const Count = z.int().min(0);

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

export const sessionsContracts = {
  'sessions.list': contract({
    summary: 'Sessions, most recently updated first.',
    scope: 'read',
    params: z
      .strictObject({
        limit: z.int().min(1).optional(),
        activeMinutes: z.int().min(1).optional(),
        includeGlobal: z.boolean().optional(),
        includeUnknown: z.boolean().optional(),
      })
      .meta({ id: 'SessionsListParams' }),
    result: z
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
    params: z
      .strictObject({
        key: NonEmpty,
        thinkingLevel: NonEmpty.nullable().optional(),
        verboseLevel: NonEmpty.nullable().optional(),
      })
      .meta({ id: 'SessionsPatchParams' }),
    result: z
      .strictObject({
        ok: z.literal(true),
        path: z.string(),
        key: NonEmpty,
        entry: z.strictObject({
          sessionId: z.string(),
          updatedAt: Count,
          thinkingLevel: z.string().optional(),
          verboseLevel: z.string().optional(),
        }),
      })
      .meta({ id: 'SessionsPatchResult' }),
  }),
};
