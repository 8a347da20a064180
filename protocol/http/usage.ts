import { z } from 'zod';
import { REPORT_GROUPINGS } from '../methods/usage.ts';
import { Moment } from './accounts/audit.ts';
import { endpoint } from './endpoint.ts';

const sums = {
  /** With cached tokens. */
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  tool_calls_count: z.number(),
  cache_creation_tokens: z.number(),
  cache_read_tokens: z.number(),
  /** Answered model turns. */
  turns: z.number(),
  /** By the prices at that time. */
  cost_usd: z.number(),
};

/** Tokens and money of everybody (HTTP.md, "Usage"). */
export const usageEndpoints = {
  report: endpoint({
    verb: 'get',
    path: '/v1/api/admin/usage',
    summary: 'Tokens and money by day, hour, model or user.',
    scope: 'approve',
    request: () =>
      z.object({
        since: Moment.optional(),
        until: Moment.optional(),
        user_id: z.string().optional(),
        model: z.string().optional(),
        group_by: z.string().optional(),
      }),
    reply: () =>
      z.object({
        /** One row: the sum of everything. */
        summary: z.array(z.object(sums)),
        breakdown: z.array(z.object({ key: z.string(), username: z.string().nullable(), ...sums })),
      }),
    errors: { 400: `group_by must be one of: ${REPORT_GROUPINGS.join(', ')}` },
  }),
};
