import { z } from 'zod';
import { OUTPUT_RISKS } from '../../events/output-warning.ts';
import { Moment } from '../accounts/audit.ts';
import { endpoint } from '../endpoint.ts';

const MOST_ASSESSMENTS = 500;

/** Findings of the output guard (HTTP.md, "The output guard"). */
export const assessmentEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/output-assessments',
    summary: 'Findings of the output guard, newest first.',
    scope: 'approve',
    request: () =>
      z.object({
        ws_id: z.string().optional(),
        since: Moment.optional(),
        until: Moment.optional(),
        risk_level: z
          .enum(OUTPUT_RISKS, { error: `must be one of: ${OUTPUT_RISKS.join(', ')}` })
          .or(z.literal(''))
          .optional(),
        /** A higher one is lowered to 500. */
        limit: z.coerce
          .number()
          .int()
          .min(1)
          .transform((limit) => Math.min(limit, MOST_ASSESSMENTS))
          .optional(),
        offset: z.coerce.number().int().min(0).optional(),
      }),
    reply: () =>
      z.object({
        assessments: z.array(
          z.object({
            assessment_id: z.string(),
            ws_id: z.string(),
            call_id: z.string(),
            func_name: z.string(),
            /** A JSON list of texts, like the annotations. */
            flags: z.string(),
            risk_level: z.enum(OUTPUT_RISKS),
            annotations: z.string(),
            output_length: z.int(),
            redacted: z.union([z.literal(0), z.literal(1)]),
            created: z.string(),
          }),
        ),
        total: z.int(),
      }),
  }),
};
