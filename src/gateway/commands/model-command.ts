import type { Models } from '../../agent/providers/model.ts';
import type { Settings } from '../workstreams/settings.ts';
import type { Workstream } from '../workstreams/workstream.ts';

interface ModelCommandDeps {
  models: Pick<Models, 'list'>;
  settings: Pick<Settings, 'change'>;
}

/** `/model`: lists the models, or switches the workstream to one. The answer goes to `say`. */
export const createModelCommand =
  ({ models, settings }: ModelCommandDeps, say: (to: Workstream, text: string) => Promise<void>) =>
  async (alias: string, workstream: Workstream): Promise<void> => {
    if (alias !== '') {
      await settings.change(workstream, { model: alias });
      return say(workstream, `Model: ${workstream.data.toRow().modelAlias}`);
    }
    const current = workstream.data.toRow().modelAlias;
    const lines = models
      .list()
      .map((model) => `${model.alias === current ? '*' : ' '} ${model.alias}  (${model.provider}/${model.modelId})`);
    return say(workstream, lines.join('\n'));
  };
