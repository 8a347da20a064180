import { z } from 'zod';
import { MODEL_PROBLEMS, MODEL_PROVIDERS } from '../methods/models.ts';
import { endpoint } from './endpoint.ts';

const flag = z
  .enum(['1', 'true'])
  .transform(() => true)
  .optional()
  .catch(undefined);

/** The models that can be chosen. */
export const modelsEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/models',
    summary: 'The models that can be chosen, the default one first; if asked for, also the servers on this machine.',
    scope: 'read',
    request: () =>
      z.object({
        /** Asks the usual ports of this machine for servers of models. Needs the permission `admin.settings`. */
        discover: flag,
      }),
    reply: () =>
      z.object({
        models: z.array(
          z.object({
            /** The value for `model` of a new workstream. */
            alias: z.string(),
            model: z.string(),
            provider: z.string(),
            /** Tokens; absent while it is unknown. */
            context_window: z.int().optional(),
            /** US dollars per million tokens; absent while it is unknown. */
            price: z
              .object({
                input: z.number(),
                output: z.number(),
                cache_read: z.number().optional(),
                cache_write: z.number().optional(),
                /** Of requests with more input than `above` tokens. */
                long: z
                  .object({
                    above: z.int(),
                    input: z.number(),
                    output: z.number(),
                    cache_read: z.number().optional(),
                    cache_write: z.number().optional(),
                  })
                  .optional(),
                /** The page of the list price, or `config.json`. */
                source: z.string(),
                as_of: z.string().optional(),
              })
              .optional(),
            is_default: z.boolean(),
          }),
        ),
        /** Empty without a default. */
        default_alias: z.string(),
        /** Only with `discover`: those that have a model. */
        servers: z.array(z.object({ name: z.string(), base_url: z.string(), models: z.array(z.string()) })).optional(),
      }),
  }),
  test: endpoint({
    verb: 'post',
    path: '/v1/api/models/test',
    summary: 'Asks the provider of a model whether it can be used, without using tokens.',
    scope: 'write',
    request: () =>
      z.object({
        model: z.string(),
        /** What is tested in place of a configured model. Needs the permission `admin.settings`. */
        candidate: z
          .object({
            provider: z.enum(MODEL_PROVIDERS),
            model: z.string().nullish(),
            base_url: z.string().nullish(),
            /** Never stored, recorded or answered. */
            api_key: z.string().nullish(),
          })
          .nullish(),
      }),
    reply: () =>
      z.object({
        ok: z.boolean(),
        /** The provider's name for the model, if it can be used. */
        model: z.string().optional(),
        elapsed_ms: z.int(),
        /** Why not, for people in `text`. */
        problem: z.object({ kind: z.enum(MODEL_PROBLEMS), text: z.string() }).optional(),
      }),
    errors: { 400: 'model is required' },
  }),
};
