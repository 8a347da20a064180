import { z } from 'zod';
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
            is_default: z.boolean(),
          }),
        ),
        /** Empty without a default. */
        default_alias: z.string(),
      }),
  }),
};
