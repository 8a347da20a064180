import { z } from 'zod';
import { Moment } from '../accounts/audit.ts';

const MOST_RECORDS = 500;

/** The query of a list of records about tool calls. */
export const recordQuery = <const L extends readonly [string, ...string[]]>(riskLevels: L) =>
  z.object({
    ws_id: z.string().optional(),
    since: Moment.optional(),
    until: Moment.optional(),
    risk_level: z
      .enum(riskLevels, { error: `must be one of: ${riskLevels.join(', ')}` })
      .or(z.literal(''))
      .optional(),
    /** A higher one is lowered to 500. */
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .transform((limit) => Math.min(limit, MOST_RECORDS))
      .optional(),
    offset: z.coerce.number().int().min(0).optional(),
  });
