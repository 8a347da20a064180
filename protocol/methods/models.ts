import { z } from 'zod';
import { contract } from '../contract.ts';
import { NonEmpty, optionalText } from '../frames.ts';

const PerMillion = z.number().min(0).max(1_000_000);

/** US dollars per million tokens. Cached tokens cost as much as other input unless they have their own price. */
export const PRICE_RATES = {
  input: PerMillion,
  output: PerMillion,
  cacheRead: PerMillion.optional(),
  cacheWrite: PerMillion.optional(),
};

/** For requests whose input has more than `above` tokens. */
export const LongPrice = z.strictObject({ above: z.int().positive(), ...PRICE_RATES }).meta({ id: 'LongPrice' });

/** What a model costs, and who says so. */
export const ModelPrice = z
  .strictObject({
    ...PRICE_RATES,
    long: LongPrice.optional(),
    /** The page of the list price, or `config.json`. */
    source: z.string(),
    /** The day on which the list price was read. */
    asOf: z.string().optional(),
  })
  .meta({ id: 'ModelPrice' });
export type ModelPrice = z.infer<typeof ModelPrice>;

/** One model of `models.list`. */
export const ModelRow = z
  .strictObject({
    /** The value for `model` parameters and /model. */
    id: z.string(),
    /** The provider's name for the model; empty while it is unknown. */
    name: z.string(),
    provider: z.string(),
    /** Tokens, also if learned from a refused request; absent while it is unknown. */
    contextWindow: z.int().min(1).optional(),
    /** Absent while it is unknown: only published prices and those of config.json. */
    price: ModelPrice.optional(),
    isDefault: z.boolean().optional(),
  })
  .meta({ id: 'ModelRow' });
export type ModelRow = z.infer<typeof ModelRow>;

/** What can go wrong with a request to a model. */
export const MODEL_PROBLEMS = [
  'unauthorized', // no key, or the upstream rejected it
  'rate_limited',
  'unreachable', // no response
  'timeout', // connected, then silent beyond the deadline
  'interrupted', // the stream broke after its first part
  'over_limit', // the answer exceeds our limits
  'circuit_open',
  'refused', // the upstream rejected the request as invalid
] as const;
/** One of them. */
export type ModelProblem = (typeof MODEL_PROBLEMS)[number];

/** A server of models on the machine of the daemon. */
export const LocalModelServer = z
  .strictObject({
    /** The program that usually listens there, such as `Ollama`. */
    name: z.string(),
    baseUrl: z.string(),
    /** As the server calls them, at most 100. */
    models: z.array(z.string()),
  })
  .meta({ id: 'LocalModelServer' });
export type LocalModelServer = z.infer<typeof LocalModelServer>;

/** The kinds of servers whose models can be configured. */
export const MODEL_PROVIDERS = ['openai-compatible', 'openai', 'anthropic', 'google'] as const;

/** A model that is not configured yet, to be tested. */
export const ModelCandidate = z
  .strictObject({
    provider: z.enum(MODEL_PROVIDERS),
    /** Default: the provider's usual model, or the first that the server lists. */
    model: optionalText(256),
    /** Default: the provider's usual server. */
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .optional(),
    /** Never stored, recorded or answered. */
    apiKey: optionalText(4_096),
  })
  .meta({ id: 'ModelCandidate' });
export type ModelCandidate = z.infer<typeof ModelCandidate>;

/** The models that can be chosen. */
export const modelsContracts = {
  'models.list': contract({
    summary: 'The models that can be chosen, the default one first; if asked for, also the servers on this machine.',
    scope: 'read',
    params: () =>
      z
        .strictObject({
          /** Asks the usual ports of this machine for servers of models. Needs the permission `admin.settings`. */
          discover: z.boolean().optional(),
        })
        .meta({ id: 'ModelsListParams' }),
    result: () =>
      z
        .strictObject({
          models: z.array(ModelRow),
          /** Only with `discover`: those that have a model. */
          servers: z.array(LocalModelServer).optional(),
        })
        .meta({ id: 'ModelsListResult' }),
  }),
  'models.test': contract({
    summary:
      'Ask the provider of a model whether it can be used: it answers, accepts the key and has the model. Uses no tokens.',
    scope: 'write',
    permission: 'workstreams.create',
    weight: 3,
    serial: ({ model }) => `models.test ${model}`,
    stepUp: ({ candidate }) => candidate !== undefined,
    params: () =>
      z
        .strictObject({
          model: NonEmpty.max(256),
          /** What is tested in place of a configured model of this name. Needs the permission `admin.settings`. */
          candidate: ModelCandidate.optional(),
        })
        .meta({ id: 'ModelsTestParams' }),
    result: () =>
      z
        .strictObject({
          ok: z.boolean(),
          /** The provider's name for the model, if it can be used. */
          name: z.string().optional(),
          elapsedMs: z.int().min(0),
          /** Why not, for people in `text`. */
          problem: z.strictObject({ kind: z.enum(MODEL_PROBLEMS), text: z.string() }).optional(),
        })
        .meta({ id: 'ModelsTestResult' }),
  }),
};
