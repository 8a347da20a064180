import { type Signal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { ModelRow } from '../../../protocol/methods/models.ts';

/** The models that the daemon knows. */
export interface ModelChoices {
  readonly rows: Signal<readonly ModelRow[]>;
  /** Reads them again: names and windows are learned while the daemon runs. */
  refresh(): Promise<void>;
}

export function createModelChoices(client: Pick<GatewayClient, 'call'>): ModelChoices {
  const rows = signal<readonly ModelRow[]>([]);
  return {
    rows,
    async refresh() {
      try {
        rows.value = (await client.call('models.list', {})).models;
      } catch {
        // Without an answer there is only the current model to show.
      }
    },
  };
}

/** The entries of the list: name, alias if it says more, and context window. The current model is always among them. */
export function toChoices(
  rows: readonly ModelRow[],
  current: { alias: string; name: string },
): { alias: string; words: string }[] {
  const isKnown = rows.some(({ id }) => id === current.alias);
  const all = isKnown ? rows : [{ id: current.alias, name: current.name, provider: '' }, ...rows];
  return all.map((row) => ({ alias: row.id, words: wordsOfModel(row) }));
}

function wordsOfModel({ id, name, contextWindow }: Pick<ModelRow, 'id' | 'name' | 'contextWindow'>): string {
  const isSame = name === '' || name === id || id.endsWith(`/${name}`);
  const window = contextWindow === undefined ? [] : [`${Math.round(contextWindow / 1_000)}k`];
  return [isSame ? id : `${name} (${id})`, ...window].join(' · ');
}
