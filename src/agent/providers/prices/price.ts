import { z } from 'zod';
import { LongPrice, PRICE_RATES } from '../../../../protocol/methods/models.ts';

/** US dollars per million tokens. `long` replaces the other rates for requests with more input. */
export const Price = z.strictObject({ ...PRICE_RATES, long: LongPrice.optional() });
export type Price = z.infer<typeof Price>;
