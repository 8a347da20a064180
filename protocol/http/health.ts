import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const StepMinutes = z
  .string()
  .regex(/^([1-9]|[1-5]\d|60)$/, 'must be a whole number from 1 to 60')
  .optional();

/** The health check for monitors. */
export const healthEndpoints = {
  health: endpoint({
    verb: 'get',
    path: '/health',
    summary: 'The daemon’s health; 200 while the process runs.',
    scope: 'public',
    request: () => z.object({}),
    reply: () =>
      z.object({
        status: z.enum(['ok', 'degraded']),
        version: z.string(),
        node_id: z.string(),
        uptime_seconds: z.number(),
        model: z.string(),
        workstreams: z.object({
          total: z.int(),
          idle: z.int(),
          thinking: z.int(),
          running: z.int(),
          attention: z.int(),
          error: z.int(),
        }),
        max_ws: z.int(),
        backend: z.object({ status: z.enum(['up', 'down']), circuit_state: z.enum(['closed', 'open', 'half_open']) }),
        store: z.object({ status: z.enum(['ok', 'degraded']), reason: z.string().optional() }),
        sandbox: z.object({ active: z.boolean(), reason: z.string().optional() }),
        /** Tool servers that are not disabled, and what they offer besides tools. */
        mcp: z.object({ servers: z.int(), resources: z.int(), prompts: z.int() }),
        /** The chat services that are set up; `why` is empty while messages are received. */
        channels: z.array(
          z.object({
            channel: z.string(),
            state: z.string(),
            why: z.string(),
            since: z.string(),
            last_poll: z.string().nullable(),
            last_in: z.string().nullable(),
            last_out: z.string().nullable(),
            backlog: z.int(),
            waiting: z.int(),
          }),
        ),
      }),
  }),
  history: endpoint({
    verb: 'get',
    path: '/v1/api/health/history',
    summary: 'The health of the last day, one sample per minute or per `step_minutes`.',
    scope: 'read',
    request: () => z.object({ step_minutes: StepMinutes }),
    reply: () =>
      z.object({
        step_minutes: z.int(),
        samples: z.array(
          z.object({
            at: z.string(),
            lag_ms: z.number(),
            busy: z.number(),
            store_ms: z.number().nullable(),
            circuit_state: z.enum(['closed', 'open', 'half_open']),
            store: z.enum(['ok', 'degraded']),
          }),
        ),
      }),
  }),
};
