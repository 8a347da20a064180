import { z } from 'zod';
import { contract } from '../contract.ts';
import { optionalText } from '../frames.ts';

/** The last lines of the daemon’s log. */
export const logsContracts = {
  'logs.tail': contract({
    summary: 'The newest lines of the daemon’s log, or those after a cursor. They contain no secrets or conversations.',
    scope: 'approve',
    // A line may quote anything, also from workstreams that the caller does not perceive.
    permission: 'workstreams.all',
    params: () =>
      z
        .strictObject({
          /** The cursor of the last answer. */
          cursor: optionalText(64),
          limit: z.int().min(1).max(5_000).default(500),
          maxBytes: z.int().min(1_000).max(1_000_000).default(250_000),
        })
        .meta({ id: 'LogsTailParams' }),
    result: () =>
      z
        .strictObject({
          /** Where the lines are also written. */
          file: z.string(),
          cursor: z.string(),
          /** Bytes kept in memory. */
          size: z.int().min(0),
          /** Each line is JSON. */
          lines: z.array(z.string()),
          /** Further lines did not fit, or were dropped. */
          truncated: z.boolean().optional(),
          /** The cursor belongs to an earlier start of the daemon. */
          reset: z.boolean().optional(),
        })
        .meta({ id: 'LogsTailResult' }),
  }),
};
