import type { modelsContracts } from '../../../protocol/methods/models.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { Handlers } from '../call.ts';

export const modelsMethods = ({
  models,
}: {
  models: Pick<Models, 'list'>;
}): Handlers<keyof typeof modelsContracts> => ({
  'models.list': () => ({
    models: models.list().map(({ alias, modelId, provider, contextWindow, isDefault }) => ({
      id: alias,
      name: modelId,
      provider,
      ...(contextWindow > 0 && { contextWindow }),
      ...(isDefault && { isDefault }),
    })),
  }),
});
