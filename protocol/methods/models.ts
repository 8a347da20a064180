import { z } from 'zod';
import { contract } from '../contract.ts';

const ModelRow = z
  .strictObject({
    /** What `model` parameters and /model take. */
    id: z.string(),
    /** The provider's name for it; empty while it is not known. */
    name: z.string(),
    provider: z.string(),
    isDefault: z.boolean().optional(),
  })
  .meta({ id: 'ModelRow' });

/** The models that may be chosen. */
export const modelsContracts = {
  'models.list': contract({
    summary: 'The models that can be chosen, the default one first.',
    scope: 'read',
    params: z.strictObject({}).meta({ id: 'ModelsListParams' }),
    result: z.strictObject({ models: z.array(ModelRow) }).meta({ id: 'ModelsListResult' }),
  }),
};
