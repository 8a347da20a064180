import { z } from 'zod';
import { optionalText } from '../../frames.ts';

/** How many records about calls one answer has at most. */
const MOST_RECORDS = 500;

/** A moment, in milliseconds since 1970. */
export const AtMs = z.int().min(0);

/** The parameters of a list of records about tool calls. `risk`: their risk levels. */
export const recordFilters = <R extends z.ZodType>(risk: R) => ({
  wsId: optionalText(64),
  /** First and last moment. */
  sinceMs: AtMs.optional(),
  untilMs: AtMs.optional(),
  riskLevel: risk.optional(),
  /** Default: 100. */
  limit: z.int().min(1).max(MOST_RECORDS).optional(),
  offset: z.int().min(0).optional(),
});
