import type { Price } from './price.ts';

interface PriceList {
  /** The page that the prices are from, and the day on which it said so. */
  source: string;
  asOf: string;
  rows: PriceRow[];
}

interface PriceRow {
  models: string[];
  price: Price;
  /** The last day (UTC) of this price; a later row has the next one. */
  until?: string;
}

const claude = (input: number, output: number, cacheRead = input / 10): Price => ({
  input,
  output,
  cacheRead,
  cacheWrite: input * 1.25,
});

/** Requests above 272 000 input tokens cost twice as much for the input and half as much again for the output. */
const gpt = (input: number, output: number, cacheRead: number): Price => {
  const twice = { input: input * 2, cacheRead: cacheRead * 2, cacheWrite: input * 2.5 };
  return {
    input,
    output,
    cacheRead,
    cacheWrite: input * 1.25,
    long: { above: 272_000, output: output * 1.5, ...twice },
  };
};

const plain = (input: number, output: number, cacheRead: number): Price => ({ input, output, cacheRead });

/** What the makers of the hosted models ask for them. Only published prices; a guess would be worse than none. */
export const LIST_PRICES: PriceList[] = [
  {
    source: 'https://platform.claude.com/docs/en/about-claude/pricing',
    asOf: '2026-10-24',
    rows: [
      { models: ['claude-fable-5-1', 'claude-mythos-5-1'], price: claude(10, 50, 0.25) },
      { models: ['claude-fable-5', 'claude-mythos-5'], price: claude(10, 50) },
      { models: ['claude-opus-5-5'], price: claude(4, 20, 0.2) },
      {
        models: ['claude-opus-5', 'claude-opus-4-8', 'claude-opus-4-7', 'claude-opus-4-6', 'claude-opus-4-5'],
        price: claude(5, 25),
      },
      { models: ['claude-opus-4-1', 'claude-opus-4', 'claude-opus-4-0'], price: claude(15, 75) },
      { models: ['claude-sonnet-5-5'], price: claude(2, 10, 0.1) },
      { models: ['claude-sonnet-5'], price: claude(2, 10) },
      {
        models: ['claude-sonnet-4-6', 'claude-sonnet-4-5', 'claude-sonnet-4', 'claude-sonnet-4-0', 'claude-3-7-sonnet'],
        price: claude(3, 15),
      },
      { models: ['claude-haiku-5-5'], price: { ...claude(0.1, 0.5), long: { above: 100_000, ...claude(0.5, 2.5) } } },
      { models: ['claude-haiku-4-5'], price: claude(1, 5) },
      { models: ['claude-3-5-haiku'], price: claude(0.8, 4) },
    ],
  },
  {
    source: 'https://developers.openai.com/api/docs/pricing',
    asOf: '2026-11-05',
    rows: [
      { models: ['gpt-6.1-terra'], price: gpt(1, 5, 0.05) },
      { models: ['gpt-6.1-sol'], price: gpt(2, 10, 0.1) },
      { models: ['gpt-6-astra'], price: gpt(10, 50, 1) },
      { models: ['gpt-6-sol'], price: gpt(2, 10, 0.2) },
      { models: ['gpt-6-luna'], price: gpt(0.1, 0.5, 0.01) },
      { models: ['gpt-5.6-sol'], price: gpt(4, 20, 0.4) },
      { models: ['gpt-5.6-terra'], price: gpt(2, 12, 0.2) },
      { models: ['gpt-5.6-luna'], price: gpt(0.2, 1.2, 0.02) },
      { models: ['gpt-5.5'], price: gpt(5, 30, 0.5) },
      { models: ['gpt-5.4'], price: gpt(2.5, 15, 0.25) },
      { models: ['gpt-5.4-mini'], price: plain(0.75, 4.5, 0.075) },
      { models: ['gpt-5.4-nano'], price: plain(0.2, 1.25, 0.02) },
      { models: ['gpt-5.2'], price: plain(1.75, 14, 0.175) },
      { models: ['gpt-5.1', 'gpt-5'], price: plain(1.25, 10, 0.125) },
      { models: ['gpt-5-mini'], price: plain(0.25, 2, 0.025) },
      { models: ['gpt-5-nano'], price: plain(0.05, 0.4, 0.005) },
      { models: ['gpt-4.1', 'o3'], price: plain(2, 8, 0.5) },
      { models: ['gpt-4.1-mini'], price: plain(0.4, 1.6, 0.1) },
      { models: ['gpt-4.1-nano'], price: plain(0.1, 0.4, 0.025) },
      { models: ['gpt-4o'], price: plain(2.5, 10, 1.25) },
      { models: ['gpt-4o-mini'], price: plain(0.15, 0.6, 0.075) },
      { models: ['o4-mini'], price: plain(1.1, 4.4, 0.275) },
      { models: ['o3-mini'], price: plain(1.1, 4.4, 0.55) },
    ],
  },
  {
    source: 'https://ai.google.dev/gemini-api/docs/pricing',
    asOf: '2026-10-07',
    rows: [
      {
        models: ['gemini-3.8-flash', 'gemini-3.7-flash', 'gemini-3.6-flash'],
        price: plain(0.75, 3.75, 0.075),
        until: '2026-12-31',
      },
      { models: ['gemini-3.8-flash', 'gemini-3.7-flash', 'gemini-3.6-flash'], price: plain(1.5, 7.5, 0.15) },
      { models: ['gemini-3.5-flash'], price: plain(1.5, 9, 0.15) },
      { models: ['gemini-3.5-flash-lite', 'gemini-2.5-flash'], price: plain(0.3, 2.5, 0.03) },
      {
        models: ['gemini-3.1-pro'],
        price: { ...plain(2, 12, 0.2), long: { above: 200_000, ...plain(4, 18, 0.4) } },
      },
      { models: ['gemini-3.1-flash-lite'], price: plain(0.25, 1.5, 0.025) },
      { models: ['gemini-3-flash'], price: plain(0.5, 3, 0.05) },
      {
        models: ['gemini-2.5-pro'],
        price: { ...plain(1.25, 10, 0.125), long: { above: 200_000, ...plain(2.5, 15, 0.25) } },
      },
      { models: ['gemini-2.5-flash-lite'], price: plain(0.1, 0.4, 0.01) },
    ],
  },
];

/** A price, and where it is from. */
export interface SourcedPrice {
  price: Price;
  source: string;
  asOf?: string;
}

/** The list price of a hosted model on a day (UTC); undefined for models that are not in the list. */
export function listPrice(modelId: string, day: string): SourcedPrice | undefined {
  const name = modelId.replace(SNAPSHOT, '');
  const isIt = (id: string) => id === modelId || id === name;
  for (const { source, asOf, rows } of LIST_PRICES) {
    const row = rows.find(({ models, until }) => models.some(isIt) && (until === undefined || day <= until));
    if (row) return { price: row.price, source, asOf };
  }
  return undefined;
}

/** The end of the name of one version of a model, such as `-20250929`, `-2025-08-07`, `-latest` or `-preview-09-2025`. */
const SNAPSHOT = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|preview(?:-[\d-]+)?|\d{3})$/;
