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

/** A limit that ends a run: its model turns, its time, turns that only repeated earlier calls, or a budget. */
export const RunLimit = z.enum(['turns', 'time', 'repeats', 'budget']);
export type RunLimit = z.infer<typeof RunLimit>;

/** What a budget is for: a run, a workstream, or a day (UTC) of a caller, of a model or of everything. */
export const BudgetScope = z.enum(['run', 'workstream', 'principal', 'model', 'day']);
export type BudgetScope = z.infer<typeof BudgetScope>;

/** A budget and how much of it is used. */
export const BudgetState = z
  .object({
    of: BudgetScope,
    /** The id of the run or workstream, the caller, `provider/model`, or the day. */
    key: z.string(),
    unit: z.enum(['tokens', 'usd']),
    /** With what persons granted since. */
    limit: z.number().min(0),
    spent: z.number().min(0),
  })
  .meta({ id: 'BudgetState' });
export type BudgetState = z.infer<typeof BudgetState>;

/** A budget that is used up, and by how much it grows if a person agrees. */
export const BudgetQuestion = BudgetState.extend({
  more: z.number().positive(),
  /** The day (UTC) of a daily budget. Absent in earlier questions. */
  day: z.string().optional(),
  /** What models may still use to finish if a person declines: one short last answer. Absent in earlier questions. */
  lastAnswer: z.number().min(0).optional(),
}).meta({ id: 'BudgetQuestion' });
export type BudgetQuestion = z.infer<typeof BudgetQuestion>;

/** A part of an answer that does not fit the schema of its request. */
export const OutputError = z
  .object({
    /** A JSON pointer; empty: the whole value. */
    path: z.string(),
    /** What is expected there. */
    message: z.string(),
  })
  .meta({ id: 'OutputError' });
export type OutputError = z.infer<typeof OutputError>;

/**
 * How a run ended; on the `ws_state` that ends it. `incomplete`: the last answer was cut off at the model's output limit.
 */
export const RunOutcome = z
  .object({
    run_id: z.string(),
    status: z.enum(['ok', 'error', 'cancelled', 'timeout', 'incomplete']),
    error: z.string().optional(),
    /** The model's server could not be reached. Messages of people that wait are then held. */
    away: z.literal(true).optional(),
    /** The limit that ended the run. Before most limits, the model is told to finish with one last answer. */
    limit: RunLimit.optional(),
    /** The run ended without any answer, so its message is marked with this. */
    failed: MessageFailure.optional(),
    /** The answer as data that fits the schema of the request, if it had one. */
    output: z.unknown().optional(),
    /** No answer fitted the schema of the request: what was wrong with the last one. */
    output_errors: z.array(OutputError).optional(),
  })
  .meta({ id: 'RunOutcome' });
export type RunOutcome = z.infer<typeof RunOutcome>;
