import { z } from 'zod';

const PerMillion = z.number().min(0).max(1_000_000);

const rates = {
  input: PerMillion,
  output: PerMillion,
  cacheRead: PerMillion.optional(),
  cacheWrite: PerMillion.optional(),
};

/** US dollars per million tokens. Cached tokens cost as much as other input unless they have their own price. */
export const Price = z.strictObject({
  ...rates,
  /** Replaces all of these for requests whose input has more than `above` tokens. */
  long: z.strictObject({ above: z.int().positive(), ...rates }).optional(),
});
export type Price = z.infer<typeof Price>;
