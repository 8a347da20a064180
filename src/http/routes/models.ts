import { modelsEndpoints } from '../../../protocol/http/models.ts';
import type { ModelPrice } from '../../../protocol/methods/models.ts';
import { bind } from '../bind.ts';

export const modelsRoutes = [
  bind(modelsEndpoints.list, 'models.list', {
    params: () => ({}),
    reply: ({ models }) => ({
      models: models.map(({ id, name, provider, contextWindow, price, isDefault = false }) => ({
        alias: id,
        model: name,
        provider,
        context_window: contextWindow,
        ...(price && { price: toPrice(price) }),
        is_default: isDefault,
      })),
      default_alias: models.find(({ isDefault }) => isDefault)?.id ?? '',
    }),
  }),
  bind(modelsEndpoints.test, 'models.test', {
    params: ({ model }) => ({ model }),
    reply: ({ ok, name, elapsedMs, problem }) => ({
      ok,
      ...(name !== undefined && { model: name }),
      elapsed_ms: elapsedMs,
      ...(problem && { problem }),
    }),
  }),
];

const toRates = ({ input, output, cacheRead, cacheWrite }: Omit<ModelPrice, 'source'>) => ({
  input,
  output,
  ...(cacheRead !== undefined && { cache_read: cacheRead }),
  ...(cacheWrite !== undefined && { cache_write: cacheWrite }),
});

const toPrice = ({ long, source, asOf, ...rates }: ModelPrice) => ({
  ...toRates(rates),
  ...(long && { long: { above: long.above, ...toRates(long) } }),
  source,
  ...(asOf !== undefined && { as_of: asOf }),
});
