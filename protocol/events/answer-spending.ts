import { z } from 'zod';

const Count = z.int().min(0);

/** What one answer of a model took: its tokens, its price and its time. */
export const AnswerSpending = z
  .object({
    /** `provider/model`. */
    model: z.string(),
    /** With cached tokens. */
    input_tokens: Count,
    cache_read_tokens: Count,
    cache_write_tokens: Count,
    /** With reasoning. */
    output_tokens: Count,
    /** US dollars, by the price at that time; absent if the model has no price. */
    cost_usd: z.number().min(0).optional(),
    /** The model's server counts no tokens, so they are estimated. */
    is_estimated: z.literal(true).optional(),
    /** From the request to the end of the answer. */
    duration_ms: Count,
  })
  .meta({ id: 'AnswerSpending' });
export type AnswerSpending = z.infer<typeof AnswerSpending>;
