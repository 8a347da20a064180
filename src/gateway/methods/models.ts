import type { ModelRow, modelsContracts } from '../../../protocol/methods/models.ts';
import { type Models, ProviderError } from '../../agent/providers/model.ts';
import type { ModelWindows } from '../../agent/run/window/model-windows.ts';
import type { Clock } from '../../clock.ts';
import type { Handlers } from '../call.ts';
import { requireUsable } from '../required-rights.ts';

interface ModelMethodDeps {
  models: Pick<Models, 'list' | 'check' | 'checkCandidate' | 'discover'>;
  windows: Pick<ModelWindows, 'of'>;
  clock: Pick<Clock, 'monotonic'>;
}

export const modelsMethods = ({ models, windows, clock }: ModelMethodDeps): Handlers<keyof typeof modelsContracts> => ({
  'models.list': async ({ discover = false }, { principal, signal }) => {
    if (discover) requireUsable(principal, SETTING);
    const servers = discover ? { servers: await models.discover(signal) } : {};
    return { models: rowsOf(models, windows), ...servers };
  },
  async 'models.test'({ model, candidate }, { principal, signal }) {
    if (candidate) requireUsable(principal, SETTING);
    const beganMs = clock.monotonic();
    const elapsedMs = () => Math.round(clock.monotonic() - beganMs);
    try {
      const name = await (candidate ? models.checkCandidate(candidate, signal) : models.check(model, signal));
      return { ok: true, name, elapsedMs: elapsedMs() };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return { ok: false, elapsedMs: elapsedMs(), problem: { kind: error.kind, text: error.message } };
    }
  },
});

/** Whoever may configure models may look for them, and try them. */
const SETTING = 'admin.settings';

const rowsOf = (models: ModelMethodDeps['models'], windows: ModelMethodDeps['windows']): ModelRow[] =>
  models.list().map((model) => {
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
  });
