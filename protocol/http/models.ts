import { z } from 'zod';
import { MODEL_PROBLEMS } from '../methods/models.ts';
import { endpoint } from './endpoint.ts';

/** The models that can be chosen. */
export const modelsEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/models',
    summary: 'The models that can be chosen, the default one first.',
    scope: 'read',
    request: () => z.object({}),
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
      }),
  }),
  test: endpoint({
    verb: 'post',
    path: '/v1/api/models/test',
    summary: 'Asks the provider of a model whether it can be used, without using tokens.',
    scope: 'write',
    request: () => z.object({ model: z.string() }),
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
