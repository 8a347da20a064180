import { z } from 'zod';
import {
  SEARCH_PROVIDERS,
  SEARCH_SERVICES,
  type SearchProvider,
} from '../../agent/tools/web/search/search-services.ts';
import type { SearchSettings } from '../../agent/tools/web/search/web-search.ts';
import type { Environment } from '../../environment.ts';

/** Without user, password and query: it is shown to everyone who approves, and parameters are added to it. */
const isPlainAddress = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '' && !/[?#]/.test(text);
};

const Settings = z.object({
  provider: z
    .enum(SEARCH_PROVIDERS)
    .optional()
    .describe('The service that web_search asks. Without it, there is no web_search.'),
  url: z
    .string()
    .max(2_048)
    .refine(isPlainAddress, 'must be an http or https address without a user, password or query')
    .optional()
    .describe('The address of the service. SearXNG needs it; the others have a usual one.'),
  apiKey: z.string().min(1).max(4_096).optional().describe('The key for Brave or Tavily.'),
  apiKeyEnv: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('The environment variable that holds this key. Default: BRAVE_API_KEY or TAVILY_API_KEY.'),
});
type SearchConfig = z.infer<typeof Settings>;

/** Where `web_search` asks. */
export const SearchConfig = Settings.superRefine((config, { addIssue }) => {
  for (const [key, message] of problemsOf(config)) addIssue({ code: 'custom', path: [key], message });
});

function* problemsOf({ provider, url, apiKey, apiKeyEnv }: SearchConfig): Generator<[key: string, message: string]> {
  const isNamed = apiKey !== undefined || apiKeyEnv !== undefined;
  if (apiKey !== undefined && apiKeyEnv !== undefined) yield ['apiKeyEnv', 'is set beside apiKey; use one of them'];
  if (provider !== undefined) yield* problemsWith(provider, { hasUrl: url !== undefined, isNamed });
  else if (url !== undefined || isNamed) yield ['provider', `is required: ${SEARCH_PROVIDERS.join(', ')}`];
}

function* problemsWith(
  provider: SearchProvider,
  { hasUrl, isNamed }: { hasUrl: boolean; isNamed: boolean },
): Generator<[key: string, message: string]> {
  const { title, usualUrl, keyName } = SEARCH_SERVICES[provider];
  if (!hasUrl && usualUrl === undefined) yield ['url', `is required for ${title}`];
  if (isNamed && keyName === undefined) yield ['apiKey', `is not used: ${title} has no keys`];
  // The key in the usual variable is for the usual server.
  if (hasUrl && keyName !== undefined && !isNamed)
    yield ['apiKeyEnv', 'is required with url: name the variable with the key for that server, or set apiKey'];
}

/** What web_search works with; undefined if no service is configured. */
export function toSearchSettings(config: SearchConfig, environment: Environment): SearchSettings | undefined {
  const { provider, apiKey: value } = config;
  const key = searchKeyOf(config);
  if (provider === undefined) return undefined;
  if (key === undefined) return { provider, url: config.url ?? '', key };
  const { env: name, url } = key;
  return { provider, url, key: { name, value: value ?? environment[name]?.trim() } };
}

/** The key of the configured service and the address that it is sent to; undefined if there is none. */
export function searchKeyOf({ provider, url, apiKey: text, apiKeyEnv }: SearchConfig) {
  if (provider === undefined) return undefined;
  const { usualUrl = '', keyName } = SEARCH_SERVICES[provider];
  if (keyName === undefined) return undefined;
  const env = apiKeyEnv ?? keyName;
  return { text, env, url: url ?? usualUrl, usual: env === keyName ? [new URL(usualUrl).origin] : [] };
}
