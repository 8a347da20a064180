import { createModels, type ModelsDeps, type RunningModels } from '../../agent/providers/models.ts';
import { asStartError } from '../as-start-error.ts';
import type { DaemonOptions } from '../daemon-options.ts';

/** The models of the configuration, with the default one chosen. Throws StartError. */
export async function startModels(
  { config, environment, model, clock, log }: Pick<DaemonOptions, 'config' | 'environment' | 'model' | 'clock' | 'log'>,
  { fetch, post }: Pick<ModelsDeps, 'fetch' | 'post'>,
): Promise<RunningModels> {
  const models = createModels({ config, environment, model, fetch, post, clock, log });
  await asStartError(() => models.start());
  return models;
}
