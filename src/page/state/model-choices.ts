import { type Signal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { ModelRow } from '../../../protocol/methods/models.ts';
import { toPriceWords } from '../../../protocol/text/spending/spending-words.ts';
import { Newest } from './reading/newest.ts';

/** The models that the daemon knows. */
export interface ModelChoices {
  readonly rows: Signal<readonly ModelRow[]>;
  /** Reads them again: names and windows are learned while the daemon runs. */
  refresh(): Promise<void>;
}

export function createModelChoices(client: Pick<GatewayClient, 'call'>): ModelChoices {
  const rows = signal<readonly ModelRow[]>([]);
  const reads = new Newest();
  return {
    rows,
    async refresh() {
      const isNewest = reads.ask();
      try {
        const { models } = await client.call('models.list', {});
        if (isNewest()) rows.value = models;
      } catch {
        // Without an answer there is only the current model to show.
      }
    },
  };
}

/** The entries of the list: name, alias if it says more, context window, and the prices of a million tokens. The current model is always among them. */
export function toChoices(
  rows: readonly ModelRow[],
  current: { alias: string; name: string },
): { alias: string; words: string }[] {
  const isKnown = rows.some(({ id }) => id === current.alias);
  const all = isKnown ? rows : [{ id: current.alias, name: current.name, provider: '' }, ...rows];
  return all.map((row) => ({ alias: row.id, words: wordsOfModel(row) }));
}

type Worded = Pick<ModelRow, 'id' | 'name' | 'contextWindow' | 'price'>;

function wordsOfModel({ id, name, contextWindow, price }: Worded): string {
  const isSame = name === '' || name === id || id.endsWith(`/${name}`);
  const window = contextWindow === undefined ? [] : [`${Math.round(contextWindow / 1_000)}k`];
  const cost = price === undefined ? [] : [toPriceWords(price)];
  return [isSame ? id : `${name} (${id})`, ...window, ...cost].join(' · ');
}

/** Of the chosen model, for the title of the list; empty without a price. */
export function priceTitle(rows: readonly ModelRow[], alias: string): string {
  const { price } = rows.find(({ id }) => id === alias) ?? {};
  if (!price) return '';
  const cached = price.cacheRead === undefined ? '' : `, $${price.cacheRead} from the cache`;
  const since = price.asOf === undefined ? '' : `, read on ${price.asOf}`;
  return ` It costs ${toPriceWords(price)}${cached} per million tokens (${price.source}${since}).`;
}
