import type { modelsContracts } from '../../../protocol/methods/models.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { ModelWindows } from '../../agent/run/window/model-windows.ts';
import type { Handlers } from '../call.ts';

interface ModelMethodDeps {
  models: Pick<Models, 'list'>;
  windows: Pick<ModelWindows, 'of'>;
}

export const modelsMethods = ({ models, windows }: ModelMethodDeps): Handlers<keyof typeof modelsContracts> => ({
  'models.list': () => ({
    models: models.list().map((model) => {
      const { alias, modelId, provider, price, isDefault } = model;
      const { size: contextWindow } = windows.of(model);
      return {
        id: alias,
        name: modelId,
        provider,
        ...(contextWindow > 0 && { contextWindow }),
        ...(price && { price: { ...price.price, source: price.source, ...(price.asOf && { asOf: price.asOf }) } }),
        ...(isDefault && { isDefault }),
      };
    }),
  }),
});
