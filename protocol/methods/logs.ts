import { z } from 'zod';
import { contract } from '../contract.ts';
import { optionalText } from '../frames.ts';

/** The last lines of the daemon’s log. */
export const logsContracts = {
  'logs.tail': contract({
    summary: 'The newest lines of the daemon’s log, or those since a cursor. Secrets and conversations are not in it.',
    scope: 'approve',
    params: z
      .strictObject({
        /** As the last answer gave it. */
        cursor: optionalText(64),
        limit: z.int().min(1).max(5_000).default(500),
        maxBytes: z.int().min(1_000).max(1_000_000).default(250_000),
      })
      .meta({ id: 'LogsTailParams' }),
    result: z
      .strictObject({
        /** Where lines go besides. */
        file: z.string(),
        cursor: z.string(),
        /** Bytes kept in memory. */
        size: z.int().min(0),
        /** JSON each. */
        lines: z.array(z.string()),
        /** There were more than fit, or they are gone. */
        truncated: z.boolean().optional(),
        /** The cursor was of an earlier start of the daemon. */
        reset: z.boolean().optional(),
      })
      .meta({ id: 'LogsTailResult' }),
  }),
};
