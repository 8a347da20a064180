import { z } from 'zod';
import { OUTPUT_RISKS } from '../../events/output-warning.ts';
import { endpoint } from '../endpoint.ts';
import { recordQuery } from './record-query.ts';

/** Findings of the output guard (HTTP.md, "The output guard"). */
export const assessmentEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/output-assessments',
    summary: 'Findings of the output guard, newest first.',
    scope: 'approve',
    request: () => recordQuery(OUTPUT_RISKS),
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
