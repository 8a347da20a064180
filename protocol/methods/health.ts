import { z } from 'zod';
import { contract } from '../contract.ts';
import { NonEmpty } from '../frames.ts';
import { Notice } from '../notice.ts';
import { ChannelHealthRow } from './channels/channel.ts';

const Count = z.int().min(0);

/** The health of the daemon; also the payload of the `health` event and the source of GET /health. */
export const HealthSummary = z
  .strictObject({
    ok: z.literal(true),
    ts: Count,
    durationMs: Count,
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    nodeId: z.string(),
    uptimeSeconds: z.number().min(0),
    model: z.string(),
    modelAlias: z.string(),
    workstreams: z.strictObject({
      total: Count,
      idle: Count,
      thinking: Count,
      running: Count,
      attention: Count,
      error: Count,
    }),
    maxWorkstreams: Count,
    backend: z.strictObject({ status: z.enum(['up', 'down']), circuitState: z.enum(['closed', 'open', 'half_open']) }),
    /** `degraded` while it refuses writes (disk full), or with `damaged`: some conversations cannot be read. */
    store: z.strictObject({
      status: z.enum(['ok', 'degraded']),
      reason: z.string().optional(),
      damaged: z.boolean().optional(),
    }),
    /** Whether shell commands run in a sandbox, and if not, why. */
    sandbox: z.strictObject({ active: z.boolean(), reason: z.string().optional() }),
    // Shown by clients of the specification. The first provider does not exist here.
    web: z.strictObject({ linked: z.literal(false) }),
    telegram: z.strictObject({ configured: z.boolean() }),
    /** The chat services that are set up. */
    channels: z.array(ChannelHealthRow),
    /** Seconds between periodic heartbeats; 0: no heartbeats. */
    heartbeatSeconds: Count,
    /** The number of all sessions, and the five that were updated last. */
    sessions: z.strictObject({
      path: z.string(),
      count: Count,
      recent: z.array(z.strictObject({ key: NonEmpty, updatedAt: Count, age: Count })).max(5),
    }),
    notices: z.array(Notice),
  })
  .meta({ id: 'HealthSummary' });
export type HealthSummary = z.infer<typeof HealthSummary>;

/** The health of the daemon. */
export const healthContracts = {
  health: contract({
    summary: 'The health of the daemon, its store and its model backend.',
    scope: 'read',
    params: () => z.unknown(),
    result: () => HealthSummary,
  }),
};
