import { modelsEndpoints } from '../../../protocol/http/models.ts';
import { bind } from '../bind.ts';

export const modelsRoutes = [
  bind(modelsEndpoints.list, 'models.list', {
    params: () => ({}),
    reply: ({ models }) => ({
      models: models.map(({ id, name, provider, contextWindow, isDefault = false }) => ({
        alias: id,
        model: name,
        provider,
        context_window: contextWindow,
        is_default: isDefault,
      })),
      default_alias: models.find(({ isDefault }) => isDefault)?.id ?? '',
    }),
  }),
];
