import { z } from 'zod';
import { trimEndOf } from '../../../../../protocol/text/trimmed-text.ts';
import { type FoundPage, textOfHtml } from './found-page.ts';

/** The services that `web_search` can ask. */
export const SEARCH_PROVIDERS = ['searxng', 'brave', 'tavily'] as const;
export type SearchProvider = (typeof SEARCH_PROVIDERS)[number];

/** How old a page may be, in words that all services know. */
export const SEARCH_AGES = ['day', 'month', 'year'] as const;

export interface SearchQuery {
  query: string;
  count: number;
  since?: (typeof SEARCH_AGES)[number] | undefined;
}

interface SearchRequest {
  url: URL;
  headers: Record<string, string>;
  /** Sent as a POST. */
  body?: string;
}

interface SearchAnswer {
  pages: FoundPage[];
  /** What the service says about an answer that may be incomplete. */
  note?: string;
}

interface SearchService {
  title: string;
  /** Where it is without an address in the configuration; undefined: it has none. */
  usualUrl: string | undefined;
  /** The variable with its key, unless the configuration names another; undefined: it needs no key. */
  keyName: string | undefined;
  toRequest(base: URL, query: SearchQuery, key: string): SearchRequest;
  /** Undefined if this is no answer of the service. */
  read(answer: unknown): SearchAnswer | undefined;
}

const text = z.string().catch('');
const items = z.array(z.unknown());

const BraveAnswer = z.object({ type: z.literal('search'), web: z.object({ results: items }).nullish() });
const BravePage = z.object({ url: z.string(), title: text, description: text, age: text });
const FRESHNESS = { day: 'pd', month: 'pm', year: 'py' } as const;

const TavilyAnswer = z.object({ results: items });
const TavilyPage = z.object({ url: z.string(), title: text, content: text, published_date: text });

const SearxngAnswer = z.object({
  query: z.string(),
  results: items,
  unresponsive_engines: z.array(z.tuple([z.string()], z.unknown())).catch([]),
});
const SearxngPage = z.object({ url: z.string(), title: text, content: text, publishedDate: text });

const JSON_ONLY = { accept: 'application/json', 'user-agent': 'Headgate' };

export const SEARCH_SERVICES: Readonly<Record<SearchProvider, SearchService>> = {
  brave: {
    title: 'Brave',
    usualUrl: 'https://api.search.brave.com/res/v1/web/search',
    keyName: 'BRAVE_API_KEY',
    toRequest: (base, { query, count, since }, key) => ({
      url: withParameters(base, {
        q: query,
        count: String(count),
        text_decorations: 'false',
        ...(since && { freshness: FRESHNESS[since] }),
      }),
      headers: { ...JSON_ONLY, 'x-subscription-token': key },
    }),
    read(answer) {
      const { data } = BraveAnswer.safeParse(answer);
      // Without anything found, there is no `web`.
      const pages = (data?.web?.results ?? []).flatMap((item) => BravePage.safeParse(item).data ?? []);
      return (
        data && {
          pages: pages.map(({ url, title, description, age }) => ({ url, title, snippet: description, date: age })),
        }
      );
    },
  },
  tavily: {
    title: 'Tavily',
    usualUrl: 'https://api.tavily.com/search',
    keyName: 'TAVILY_API_KEY',
    toRequest: (url, { query, count, since }, key) => ({
      url,
      headers: { ...JSON_ONLY, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: count, ...(since && { time_range: since }) }),
    }),
    read(answer) {
      const { data } = TavilyAnswer.safeParse(answer);
      const pages = (data?.results ?? []).flatMap((item) => TavilyPage.safeParse(item).data ?? []);
      return (
        data && {
          pages: pages.map(({ url, title, content, published_date: date }) => ({ url, title, snippet: content, date })),
        }
      );
    },
  },
  searxng: {
    title: 'SearXNG',
    usualUrl: undefined,
    keyName: undefined,
    toRequest: (base, { query, since }) => ({
      url: withParameters(new URL('search', `${trimEndOf(base.href, '/')}/`), {
        q: query,
        format: 'json',
        ...(since && { time_range: since }),
      }),
      headers: JSON_ONLY,
    }),
    read(answer) {
      const { data } = SearxngAnswer.safeParse(answer);
      if (!data) return undefined;
      const pages = data.results.flatMap((item) => SearxngPage.safeParse(item).data ?? []);
      const silent = data.unresponsive_engines.map(([engine]) => textOfHtml(engine).slice(0, 40)).slice(0, 20);
      return {
        pages: pages.map(({ url, title, content, publishedDate: date }) => ({ url, title, snippet: content, date })),
        ...(silent.length > 0 && { note: `Engines that did not answer: ${silent.join(', ')}.` }),
      };
    },
  },
};

function withParameters(base: URL, parameters: Record<string, string>): URL {
  const url = new URL(base);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}
