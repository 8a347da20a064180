import { z } from 'zod';
import { contract } from '../contract.ts';

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
    isDefault: z.boolean().optional(),
  })
  .meta({ id: 'ModelRow' });
export type ModelRow = z.infer<typeof ModelRow>;

/** The models that can be chosen. */
export const modelsContracts = {
  'models.list': contract({
    summary: 'The models that can be chosen, the default one first.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'ModelsListParams' }),
    result: () => z.strictObject({ models: z.array(ModelRow) }).meta({ id: 'ModelsListResult' }),
  }),
};
