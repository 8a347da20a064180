import type { Model } from '../../providers/model.ts';
import type { SummaryAccount, SummaryModel } from '../window/run-window.ts';

/** A model for summaries: each of its requests is reserved before, and counted afterwards. */
export const countedModel = (model: Model, account: SummaryAccount): SummaryModel => ({
  get alias() {
    return model.alias;
  },
  get writesSummaries() {
    return model.writesSummaries ?? false;
  },
  async *stream(request, signal) {
    await account.begin(model, request);
    for await (const part of model.stream(request, signal)) {
      if (part.type === 'finish') {
        const { provider, modelId, price } = model;
        await account.end({ usage: part.usage, model: { provider, modelId, ...(price && { price }) } });
      }
      yield part;
    }
  },
});
