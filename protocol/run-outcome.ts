import { z } from 'zod';

/**
 * Why a message got no answer at all. It stays in the history, but the model no longer reads it: otherwise an upstream that
 * refused it would refuse every later message, too.
 */
export const MessageFailure = z
  .object({
    code: z.enum([
      'refused', // the upstream reports an invalid request
      'content_filter',
      'unauthorized',
      'rate_limited',
      'unreachable',
      'circuit_open',
      'timeout',
      'interrupted', // the answer ended before its first word
      'over_limit',
      'internal',
    ]),
    text: z.string(),
  })
  .meta({ id: 'MessageFailure' });
export type MessageFailure = z.infer<typeof MessageFailure>;

/** A limit that ends a run: its model turns, its time, or turns that only repeated earlier calls. */
export const RunLimit = z.enum(['turns', 'time', 'repeats']);
export type RunLimit = z.infer<typeof RunLimit>;

/**
 * How a run ended; on the `ws_state` that ends it. `incomplete`: the last answer was cut off at the model's output limit.
 */
export const RunOutcome = z
  .object({
    run_id: z.string(),
    status: z.enum(['ok', 'error', 'cancelled', 'timeout', 'incomplete']),
    error: z.string().optional(),
    /** The limit that ended the run after the model was told to finish with one last answer. */
    limit: RunLimit.optional(),
    /** The run ended without any answer, so its message is marked with this. */
    failed: MessageFailure.optional(),
  })
  .meta({ id: 'RunOutcome' });
export type RunOutcome = z.infer<typeof RunOutcome>;
