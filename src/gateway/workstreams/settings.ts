import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { Clock } from '../../clock.ts';
import type { Store } from '../store/store.ts';
import { setWorkstream, type WorkstreamValues } from './run-rows.ts';
import type { Workstream } from './workstream.ts';
import type { Workstreams } from './workstreams.ts';

export interface SettingsChange {
  name?: string;
  model?: string;
  autoApprove?: boolean;
  thinkingLevel?: string | null;
  verboseLevel?: string | null;
}

interface SettingsDeps {
  store: Store;
  workstreams: Workstreams;
  models: Models;
  clock: Pick<Clock, 'now'>;
}

/** Changes what a workstream is set to; everyone who follows it is told. */
export class Settings {
  readonly #deps: SettingsDeps;

  constructor(deps: SettingsDeps) {
    this.#deps = deps;
  }

  /** An empty name goes back to the generated one. Refuses names in use and models that are unknown. */
  async change({ data }: Workstream, change: SettingsChange): Promise<void> {
    const { store, workstreams, models, clock } = this.#deps;
    const values: Partial<WorkstreamValues> = {};
    const name = change.name?.trim();
    if (name) await workstreams.requireFree(name, data.wsId);
    if (name !== undefined) values.alias = name === '' ? null : name;
    const model = change.model?.trim();
    if (model) values.model_alias = (await models.resolve(model)).alias;
    if (change.autoApprove !== undefined) values.auto_approve = change.autoApprove ? 1 : 0;
    if (change.thinkingLevel !== undefined) values.thinking_level = change.thinkingLevel;
    if (change.verboseLevel !== undefined) values.verbose_level = change.verboseLevel;
    if (Object.keys(values).length === 0) return;
    values.updated_ms = Math.max(data.updatedMs, clock.now());
    const before = data.settings();
    data.applySettings(values);
    const event: StreamEvent = data.settingsEvent();
    try {
      await store.commit({
        statements: [setWorkstream(data.wsId, values)],
        events: { wsId: data.wsId, events: [event] },
      });
    } catch (error) {
      data.applySettings(before);
      throw error;
    }
    data.updatedMs = Math.max(data.updatedMs, values.updated_ms);
  }
}
