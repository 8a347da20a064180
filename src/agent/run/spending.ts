import type { Model, Usage } from '../providers/model.ts';

/** The tokens of requests, and whose they were. */
export interface Spending {
  usage: Usage;
  model: Pick<Model, 'provider' | 'modelId' | 'price'>;
}
