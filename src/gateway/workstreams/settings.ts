import type { Models } from '../../agent/providers/model.ts';
import type { Clock } from '../../clock.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import { DAEMON, type Viewer } from '../sharing/perception.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import { type Always, type AlwaysRules, toAlwaysColumns } from './always.ts';
import { nameTaken, requireReadableName, unknownWorkstream } from './session-keys.ts';
import type { Workstream } from './workstream.ts';
import type { Settings as Columns, WorkstreamData } from './workstream-data.ts';
import { isNameTaken, readNamed, writesAlias } from './workstream-rows.ts';
import type { Workstreams } from './workstreams.ts';

/** A new name, and who gives it: other workstreams that they perceive must not have it. */
export interface NewName {
  text: string;
  by: Viewer;
  /** It becomes the title, too. */
  asTitle?: true | undefined;
}

export interface SettingsChange {
  name?: NewName;
  model?: string;
  /** Null: off. */
  always?: Always | null;
  isReadOnly?: boolean;
  thinkingLevel?: string | null;
  verboseLevel?: string | null;
}

interface SettingsDeps {
  store: Store;
  workstreams: Workstreams;
  models: Models;
  always: Pick<AlwaysRules, 'noteChange'>;
  clock: Pick<Clock, 'now'>;
}

/** Changes the settings of a workstream and notifies all its readers. */
export class Settings {
  readonly #deps: SettingsDeps;
  readonly #serial = createSerialKeys();

  constructor(deps: SettingsDeps) {
    this.#deps = deps;
  }

  /** An empty name restores the generated one. Refuses names in use and unknown models. `also` is committed with it. */
  change({ data }: Workstream, change: SettingsChange, also: readonly Statement[] = []): Promise<void> {
    // One at a time: each event contains all settings, so it must not overtake an earlier change.
    return this.#serial.run(data.wsId, () => this.#change(data, change, also));
  }

  /**
   * Renames a stored workstream without loading it. Undefined when it does not exist, or is loaded; then use `change`.
   */
  renameStored(wsId: string, name: NewName): Promise<WorkstreamData | undefined> {
    return this.#serial.run(wsId, async () => {
      const data = await this.#findStored(wsId, name.by);
      if (!data) return undefined;
      const values = await this.#toValues(data, { name });
      const titled = titleIn(name);
      const statements = [nameStored(wsId, { alias: values.alias ?? null, ...titled })];
      try {
        await this.#deps.store.commit({ statements, events: { wsId, events: [data.settingsEvent(values)] } });
      } catch (error) {
        if (isNameTaken(error)) throw nameTaken(error);
        if (!(error instanceof UnitRefused)) throw error;
        return undefined; // it was just loaded
      }
      data.applySettings(values);
      Object.assign(data, titled);
      return data;
    });
  }

  async #findStored(wsId: string, viewer: Viewer): Promise<WorkstreamData | undefined> {
    const { workstreams } = this.#deps;
    const data = workstreams.find(wsId, DAEMON) ? undefined : await workstreams.lookUp(wsId, viewer);
    return data?.wsId === wsId ? data : undefined; // a session key is not an id
  }

  async #change(data: WorkstreamData, change: SettingsChange, also: readonly Statement[]): Promise<void> {
    const { store, clock } = this.#deps;
    const values = await this.#toValues(data, change);
    if (Object.keys(values).length === 0) return;
    const { alias, ...others } = values;
    const titled = titleIn(change.name);
    const updatedMs = Math.max(data.updatedMs, clock.now());
    try {
      await store.commit({
        statements: [
          setWorkstream(data.wsId, { ...others, ...titled, updated_ms: updatedMs }),
          ...(alias === undefined ? [] : [writesAlias(setWorkstream(data.wsId, { alias }))]),
          ...also,
        ],
        events: { wsId: data.wsId, events: [data.settingsEvent(values)] },
      });
    } catch (error) {
      if (isNameTaken(error)) throw nameTaken(error);
      throw error instanceof UnitRefused ? unknownWorkstream(error) : error;
    }
    data.applySettings(values);
    Object.assign(data, titled);
    if (change.always) this.#deps.always.noteChange();
    data.updatedMs = Math.max(data.updatedMs, updatedMs);
  }

  /** Throws CONFLICT when another workstream has the name, as far as the viewer perceives. */
  async #requireFree(name: string, { viewer, except }: { viewer: Viewer; except: string }): Promise<void> {
    requireReadableName(name);
    const taken = await readNamed(this.#deps.store, name, viewer);
    if (taken.some(({ ws_id }) => ws_id !== except)) throw nameTaken();
  }

  async #toValues({ wsId }: WorkstreamData, change: SettingsChange): Promise<Partial<Columns>> {
    const { models } = this.#deps;
    const name = change.name?.text.trim();
    if (change.name && name) await this.#requireFree(name, { viewer: change.name.by, except: wsId });
    const model = change.model?.trim();
    const alias = model ? (await models.resolve(model)).alias : undefined;
    const { always, isReadOnly, thinkingLevel, verboseLevel } = change;
    return {
      ...(name !== undefined && { alias: name === '' ? null : name }),
      ...(alias !== undefined && { model_alias: alias }),
      ...(always !== undefined && toAlwaysColumns(always ?? undefined)),
      ...(isReadOnly !== undefined && { read_only: isReadOnly ? 1 : 0 }),
      ...(thinkingLevel !== undefined && { thinking_level: thinkingLevel }),
      ...(verboseLevel !== undefined && { verbose_level: verboseLevel }),
    };
  }
}

/** An empty name only removes the earlier one. */
function titleIn(name: NewName | undefined): { title?: string } {
  const title = name?.asTitle && name.text.trim();
  return title ? { title } : {};
}

/** Fenced, so that the rename is refused if the workstream was just loaded. */
const nameStored = (wsId: string, names: { alias: string | null; title?: string }): Statement =>
  writesAlias(
    statementOf(build.updateTable('workstreams').set(names).where('ws_id', '=', wsId).where('loaded', '=', 0), 1),
  );
