import type { SessionConfigOption, SessionModeState, SessionUpdate } from '@agentclientprotocol/sdk';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { EFFORTS } from '../../../protocol/commands.ts';
import { MODES, type Mode } from '../../../protocol/events/modes.ts';
import type { ParamsInput } from '../../../protocol/index.ts';
import type { ModelRow } from '../../../protocol/methods/models.ts';
import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';
import type { Effort, StreamEventOf } from '../../../protocol/stream-events.ts';
import { MODE_WORDS } from '../../../protocol/text/mode-words.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { wrongParams } from './told-errors.ts';

/** What can be chosen for a session. */
interface Chosen {
  mode: Mode;
  model: string;
  effort: Effort;
}

/** The settings of a session as an editor shows and changes them. */
export interface SessionSettings {
  readonly modes: SessionModeState;
  readonly options: SessionConfigOption[];
  open(snapshot: WorkstreamSnapshot, models: readonly ModelRow[]): void;
  /** The updates that a change of the workstream causes. */
  read(event: StreamEventOf<'settings_changed'>): SessionUpdate[];
}

export function createSessionSettings(): SessionSettings {
  let chosen: Chosen = { mode: 'ask', model: '', effort: 'medium' };
  let models: readonly ModelRow[] = [];
  const optionsNow = () => toOptions(chosen, models);
  return {
    get modes() {
      return {
        currentModeId: chosen.mode,
        availableModes: MODE_CHOICES.map(({ value, ...words }) => ({ id: value, ...words })),
      };
    },
    get options() {
      return optionsNow();
    },
    open({ workstream, effort }, known) {
      chosen = { mode: workstream.mode, model: workstream.modelAlias, effort };
      models = known;
    },
    read({ mode = chosen.mode, model_alias, effort = chosen.effort }) {
      const before = chosen;
      chosen = { mode, model: model_alias, effort };
      const hasChanged = (['mode', 'model', 'effort'] as const).some((name) => before[name] !== chosen[name]);
      return [
        ...(before.mode === mode ? [] : [{ sessionUpdate: 'current_mode_update' as const, currentModeId: mode }]),
        ...(hasChanged ? [{ sessionUpdate: 'config_option_update' as const, configOptions: optionsNow() }] : []),
      ];
    },
  };
}

const MODE_CHOICES = MODES.map((value) => ({
  value,
  name: MODE_WORDS[value].name,
  description: `${MODE_WORDS[value].means[0]?.toUpperCase() ?? ''}${MODE_WORDS[value].means.slice(1)}.`,
}));

function toOptions({ mode, model, effort }: Chosen, models: readonly ModelRow[]): SessionConfigOption[] {
  const known = models.map(({ id, name }) => ({ value: id, name: toSafeText(name === '' ? id : `${id} (${name})`) }));
  const isKnown = known.some(({ value }) => value === model);
  return [
    { id: 'mode', name: 'Mode', category: 'mode', type: 'select', currentValue: mode, options: MODE_CHOICES },
    {
      id: 'model',
      name: 'Model',
      category: 'model',
      type: 'select',
      currentValue: model,
      options: isKnown ? known : [{ value: model, name: toSafeText(model) }, ...known],
    },
    {
      id: 'effort',
      name: 'Effort',
      category: 'thought_level',
      type: 'select',
      currentValue: effort,
      options: EFFORTS.map((value) => ({ value, name: value })),
    },
  ];
}

type Change = Pick<ParamsInput<'workstream.update'>, 'mode' | 'model' | 'effort'>;

/** The change that an editor asks for. Throws an error that names what is possible. */
export function toChange(id: string, value: unknown): Change {
  const mode = MODES.find((one) => one === value);
  const effort = EFFORTS.find((one) => one === value);
  if (id === 'mode' && mode !== undefined) return { mode };
  if (id === 'effort' && effort !== undefined) return { effort };
  if (id === 'model' && typeof value === 'string') return { model: value };
  const possible = { mode: MODES.join(', '), effort: EFFORTS.join(', '), model: 'an alias of a model' };
  if (!Object.hasOwn(possible, id)) throw wrongParams(`There is no option ${id}; there are mode, model and effort`);
  throw wrongParams(`${id} must be one of: ${String(Reflect.get(possible, id))}`);
}

export const readModels = async (client: Pick<GatewayClient, 'call'>): Promise<readonly ModelRow[]> =>
  (await client.call('models.list', {})).models;
