import type { AnswerSpending } from '../../events/answer-spending.ts';
import type { ModelPrice } from '../../methods/models.ts';

/** What one answer or several took. */
export interface SpendingSum extends AnswerSpending {
  /** Tokens of answers without a price, if others have one. */
  unpriced_tokens?: number;
}

type Spent = SpendingSum | undefined;

/** What several answers took together. The model is that of the last one; a cost is the sum of those that are known. */
export function addSpending(one: Spent, other: Spent): Spent {
  if (one === undefined || other === undefined) return one ?? other;
  const isPriced = one.cost_usd !== undefined || other.cost_usd !== undefined;
  const unpriced = unpricedOf(one) + unpricedOf(other);
  return {
    model: other.model,
    input_tokens: one.input_tokens + other.input_tokens,
    cache_read_tokens: one.cache_read_tokens + other.cache_read_tokens,
    cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    ...(isPriced && { cost_usd: (one.cost_usd ?? 0) + (other.cost_usd ?? 0) }),
    ...(isPriced && unpriced > 0 && { unpriced_tokens: unpriced }),
    ...((one.is_estimated || other.is_estimated) && { is_estimated: true }),
    duration_ms: one.duration_ms + other.duration_ms,
  };
}

function unpricedOf(spent: SpendingSum): number {
  return spent.cost_usd === undefined ? spent.input_tokens + spent.output_tokens : (spent.unpriced_tokens ?? 0);
}

/**
 * `4.2 s · claude-opus-5 · $0.0123`; tokens in place of the money if the model has no price, and both if that is so for some
 * answers. `toLength`: words for a time.
 */
export function toSpendingWords(spent: SpendingSum, toLength: (ms: number) => string): string {
  const { model, cost_usd: usd, duration_ms: ms, is_estimated: isEstimated } = spent;
  const unpriced = unpricedOf(spent);
  const amount = [
    ...(usd === undefined ? [] : [moneyOf(usd)]),
    ...(usd === undefined || unpriced > 0 ? [`${unpriced.toLocaleString('en-US')} tokens`] : []),
  ].join(' + ');
  return [toLength(ms), nameOf(model), `${isEstimated ? '≈ ' : ''}${amount}`].join(' · ');
}

/** The tokens one by one. */
export function toTokenWords({ model, ...spent }: AnswerSpending): string {
  const count = (tokens: number) => tokens.toLocaleString('en-US');
  const cached = spent.cache_read_tokens === 0 ? '' : ` (${count(spent.cache_read_tokens)} from the cache)`;
  return `${model}: ${count(spent.input_tokens)} tokens of input${cached}, ${count(spent.output_tokens)} of output`;
}

/** `$0.0123`; less than that in full, so that a cheap answer does not look free. */
export function moneyOf(usd: number): string {
  if (usd === 0 || usd >= 0.1) return `$${usd.toFixed(2)}`;
  return usd < 0.0001 ? 'under $0.0001' : `$${usd.toFixed(4)}`;
}

/** `$3 in, $15 out`, for a million tokens. */
export const toPriceWords = ({ input, output }: Pick<ModelPrice, 'input' | 'output'>): string =>
  `$${input} in, $${output} out`;

/** Without the provider. */
const nameOf = (model: string): string => model.slice(model.indexOf('/') + 1);
