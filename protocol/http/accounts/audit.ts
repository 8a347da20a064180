import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const Event = z.object({
  event_id: z.string(),
  timestamp: z.string(),
  user_id: z.string(),
  username: z.string(),
  action: z.string(),
  resource_type: z.string(),
  resource_id: z.string(),
  /** JSON text. */
  detail: z.string(),
  ip_address: z.string(),
  outcome: z.string(),
  created: z.string(),
});

const MOST_EVENTS = 200;

/** A time in a query. */
export const Moment = z.iso.datetime({
  offset: true,
  local: true,
  error: 'must be an ISO 8601 time such as 2026-01-31T12:00:00Z',
});

/** The record of who did what (HTTP.md, "The audit trail"). */
export const auditEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/audit',
    summary: 'Recorded actions, newest first.',
    scope: 'approve',
    request: () =>
      z.object({
        action: z.string().optional(),
        user_id: z.string().optional(),
        since: Moment.optional(),
        until: Moment.optional(),
        /** A higher one is lowered to 200. */
        limit: z.coerce
          .number()
          .int()
          .min(1)
          .transform((limit) => Math.min(limit, MOST_EVENTS))
          .optional(),
        offset: z.coerce.number().int().min(0).optional(),
      }),
    reply: () => z.object({ events: z.array(Event), total: z.number() }),
  }),
};
