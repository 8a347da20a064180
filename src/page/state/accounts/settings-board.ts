import { type ReadonlySignal, signal } from '@preact/signals';
import type { Setting, SettingDefinition } from '../../../../protocol/methods/admin/settings.ts';
import { toSettingInput, toSettingText } from '../../../../protocol/text/setting-text.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { attempt } from './refusal.ts';

/** A setting with its value and its rules. */
export type SettingEntry = Setting & SettingDefinition;

export interface SettingSection {
  name: string;
  entries: readonly SettingEntry[];
}

/** The settings of config.json. Nothing is read until they are shown. */
export class SettingsBoard {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #entries = signal<readonly SettingEntry[] | undefined>(undefined);
  readonly #waiting = signal<readonly string[]>([]);
  readonly query = signal('');

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** Undefined until the first answer. */
  get entries(): ReadonlySignal<readonly SettingEntry[] | undefined> {
    return this.#entries;
  }

  /** The keys that were changed here and take effect at the next start. */
  get waiting(): ReadonlySignal<readonly string[]> {
    return this.#waiting;
  }

  /** Those that match the search, by section, in the order of the daemon. */
  get sections(): readonly SettingSection[] {
    const words = this.query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = (this.#entries.value ?? []).filter(({ key, configKey, description, section }) =>
      words.every((word) => `${key} ${configKey} ${description} ${section}`.toLowerCase().includes(word)),
    );
    return [...Map.groupBy(found, ({ section }) => section)].map(([name, entries]) => ({ name, entries }));
  }

  read(): Promise<void> {
    return this.reading.read(
      () => Promise.all([this.#client.call('settings.list', {}), this.#client.call('settings.schema', {})]),
      ([{ settings }, { schema }]) => {
        const definitions = new Map(schema.map((definition) => [definition.key, definition]));
        this.#entries.value = settings.flatMap((setting) => {
          const definition = definitions.get(setting.key);
          return definition ? [{ ...definition, ...setting }] : [];
        });
      },
    );
  }

  /** This and the next method return an error message, or undefined on success. */
  save(entry: SettingEntry, text: string): Promise<string | undefined> {
    const value = toSettingInput(entry, text);
    return this.#change(entry, () => this.#client.call('settings.set', { key: entry.key, value }));
  }

  reset(entry: SettingEntry): Promise<string | undefined> {
    return this.#change(entry, () => this.#client.call('settings.reset', { key: entry.key }));
  }

  async #change(entry: SettingEntry, act: () => Promise<unknown>): Promise<string | undefined> {
    const { key, restartRequired } = entry;
    const problem = await attempt(act);
    if (problem !== undefined) return problem.replace(`${key}: `, '');
    if (restartRequired && !isReplaced(entry)) this.#waiting.value = [...new Set([...this.#waiting.value, key])];
    await this.read();
    return undefined;
  }
}

/** Whether a flag or the environment replaces the value in config.json, also after a restart. */
export const isReplaced = ({ source }: Pick<SettingEntry, 'source'>): boolean =>
  source === 'flag' || source === 'environment';

/** The facts below a field: its default, its range, and where its value comes from. */
export function factsOf(entry: SettingEntry): string[] {
  const { source, restartRequired, isSecret } = entry;
  const usual = toSettingText(entry.default);
  return [
    ...(isSecret ? [] : [usual === '' ? 'no default' : `default: ${usual}`]),
    ...(source === 'storage' ? [changeOf(entry)] : []),
    ...(source === 'flag' ? ['set by a flag of the daemon, which config.json does not change'] : []),
    ...(source === 'environment' ? ['set by an environment variable, which config.json does not change'] : []),
    ...(restartRequired ? ['takes effect at the next start'] : []),
  ];
}

const changeOf = ({ changedBy }: SettingEntry): string =>
  changedBy === '' ? 'set in config.json' : `set in config.json by ${changedBy}`;
