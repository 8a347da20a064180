import type { z } from 'zod';
import { modelsEndpoints } from '../../../protocol/http/models.ts';
import type { ModelCandidate, ModelPrice } from '../../../protocol/methods/models.ts';
import { bind } from '../bind.ts';

export const modelsRoutes = [
  bind(modelsEndpoints.list, 'models.list', {
    params: ({ discover }) => ({ ...(discover && { discover }) }),
    reply: ({ models, servers }) => ({
      models: models.map(({ id, name, provider, contextWindow, price, isDefault = false }) => ({
        alias: id,
        model: name,
        provider,
        context_window: contextWindow,
        ...(price && { price: toPrice(price) }),
        is_default: isDefault,
      })),
      default_alias: models.find(({ isDefault }) => isDefault)?.id ?? '',
      ...(servers && {
        servers: servers.map(({ name, baseUrl, models: ids }) => ({ name, base_url: baseUrl, models: ids })),
      }),
    }),
  }),
  bind(modelsEndpoints.test, 'models.test', {
    params: ({ model, candidate }) => ({ model, ...(candidate && { candidate: toCandidate(candidate) }) }),
    reply: ({ ok, name, elapsedMs, problem }) => ({
      ok,
      ...(name !== undefined && { model: name }),
      elapsed_ms: elapsedMs,
      ...(problem && { problem }),
    }),
  }),
];

type Candidate = NonNullable<z.output<ReturnType<typeof modelsEndpoints.test.request>>['candidate']>;

/** An empty value counts as none. */
const toCandidate = ({ provider, model, base_url: baseUrl, api_key: apiKey }: Candidate): ModelCandidate => ({
  provider,
  ...(model && { model }),
  ...(baseUrl && { baseUrl }),
  ...(apiKey && { apiKey }),
});

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
