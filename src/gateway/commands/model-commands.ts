import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { Effort } from '../../../protocol/stream-events.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { ModelWindows } from '../../agent/run/window/model-windows.ts';
import type { Settings } from '../workstreams/settings.ts';
import type { Workstream } from '../workstreams/workstream.ts';

interface ModelCommandDeps {
  models: Pick<Models, 'list'>;
  windows: Pick<ModelWindows, 'of'>;
  settings: Pick<Settings, 'change'>;
}

type Say = (to: Workstream, text: string) => Promise<void>;

type Run = (argument: string, workstream: Workstream) => Promise<void>;

/** `/model` and `/effort`: who answers, and how much it reasons. Both apply from the next message on. */
export const createModelCommands = (
  { models, windows, settings }: ModelCommandDeps,
  say: Say,
): Record<'model' | 'effort', Run> => ({
  async model(alias, workstream) {
    if (alias === '')
      return say(
        workstream,
        toList(
          models.list().map((model) => ({ ...model, contextWindow: windows.of(model).size })),
          workstream.data.toRow().modelAlias,
        ),
      );
    await settings.change(workstream, { model: alias });
    return say(workstream, `Model: ${workstream.data.toRow().modelAlias}`);
  },
  async effort(word, workstream) {
    if (word !== '') {
      const { data: level } = Effort.safeParse(word.toLowerCase());
      if (level === undefined) {
        throw new GatewayError('INVALID_REQUEST', `Unknown effort "${word.slice(0, 64)}". Usage: ${usageOf('effort')}`);
      }
      await settings.change(workstream, { thinkingLevel: level });
    }
    return say(workstream, `Effort: ${workstream.data.effort()}`);
  },
});

type Listed = ReturnType<Models['list']>[number];

/** One line per model. A model that was chosen as `provider/model` has no alias, and is listed nevertheless. */
function toList(listed: readonly Listed[], current: string): string {
  const others = listed.some(({ alias }) => alias === current) ? [] : [`* ${current}`];
  return [...others, ...listed.map((model) => `${model.alias === current ? '*' : ' '} ${toLine(model)}`)].join('\n');
}

function toLine({ alias, provider, modelId, contextWindow }: Listed): string {
  const name = modelId === '' ? provider : `${provider}/${modelId}`;
  const window = contextWindow > 0 ? [`context ${Math.round(contextWindow / 1_000)}k`] : [];
  return `${alias}  (${[name, ...window].join(', ')})`;
}
