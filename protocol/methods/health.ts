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
    /** The tool servers that are not disabled, and what they offer besides tools, as they said last. */
    mcp: z.strictObject({ servers: Count, resources: Count, prompts: Count }),
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

/** The worst of a minute, or of several. */
export const HealthSample = z
  .strictObject({
    /** When it begins. */
    atMs: Count,
    /** How late a timer fired: the lag of the event loop. */
    lagMs: z.number().min(0),
    /** The part of the time that the event loop worked, 0 to 1. */
    busy: z.number().min(0).max(1),
    /** The longest write to the disk; absent if nothing was written. */
    storeMs: z.number().min(0).optional(),
    circuit: z.enum(['closed', 'open', 'half_open']),
    store: z.enum(['ok', 'degraded']),
  })
  .meta({ id: 'HealthSample' });
export type HealthSample = z.infer<typeof HealthSample>;

/** The health of the daemon. */
export const healthContracts = {
  health: contract({
    summary: 'The health of the daemon, its store and its model backend.',
    scope: 'read',
    params: () => z.unknown(),
    result: () => HealthSummary,
  }),
  'health.history': contract({
    summary: 'The health of the last day, oldest first: the daemon keeps one sample per minute in memory.',
    scope: 'read',
    params: () =>
      z
        .strictObject({
          /** How many minutes one sample stands for. Default: 1. */
          stepMinutes: z.int().min(1).max(60).optional(),
        })
        .meta({ id: 'HealthHistoryParams' }),
    result: () =>
      z
        .strictObject({ stepMinutes: Count, samples: z.array(HealthSample).max(1_441) })
        .meta({ id: 'HealthHistoryResult' }),
  }),
};
