import { createModels } from '../../src/agent/providers/models.ts';
import type { Clock } from '../../src/clock.ts';
import type { Post } from '../../src/egress/streamed-post.ts';
import { recordingLog } from '../../src/testing/temp-store.ts';
import { anthropicWire } from '../support/wires/anthropic-wire.ts';
import { createChatWire } from '../support/wires/chat-wire.ts';
import { googleWire } from '../support/wires/google-wire.ts';
import { openaiWire } from '../support/wires/openai-wire.ts';
import { fetchFrom, type WireServerOptions } from '../support/wires/wire-server.ts';

/** The models of a conversation: several of a family, and several families. */
const MODELS = {
  opus: { provider: 'anthropic', model: 'claude-opus-5-5' },
  sonnet: { provider: 'anthropic', model: 'claude-sonnet-5-5' },
  older: { provider: 'anthropic', model: 'claude-sonnet-4-5' },
  gpt: { provider: 'openai', model: 'gpt-6.1-terra' },
  mini: { provider: 'openai', model: 'gpt-5.4-mini' },
  gemini: { provider: 'google', model: 'gemini-3.8-flash' },
  flash: { provider: 'google', model: 'gemini-2.5-flash' },
  local: { provider: 'openai-compatible', model: 'qwen' },
  deepseek: { provider: 'openai-compatible', model: 'deepseek-v4-pro' },
} as const;
export type Alias = keyof typeof MODELS;
export const ALIASES = Object.keys(MODELS).filter((name): name is Alias => name in MODELS);

/** Who answers when a model cannot: of its family first, then of another one. */
const FALLBACK: Partial<Record<Alias, Alias[]>> = {
  opus: ['sonnet', 'gpt'],
  gpt: ['gemini'],
  gemini: ['local'],
  local: ['deepseek'],
};

const BASE_URLS = {
  anthropic: 'http://anthropic.test/v1',
  openai: 'http://openai.test/v1',
  google: 'http://google.test/v1beta',
} as const;

/** All models over the real providers, whose servers validate every request within this process. */
export async function openModels({
  clock,
  killed,
  ...options
}: WireServerOptions & {
  clock: Clock;
  /** From then on, the process of these models sends nothing. */
  killed: AbortSignal;
}) {
  const servers = new Map([
    ['anthropic.test', fetchFrom(anthropicWire, options)],
    ['openai.test', fetchFrom(openaiWire, options)],
    ['google.test', fetchFrom(googleWire, options)],
    ['local.test', fetchFrom(createChatWire({ thinksAloud: false }), options)],
    ['deepseek.test', fetchFrom(createChatWire({ thinksAloud: true }), options)],
  ]);
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const server = servers.get(new URL(String(url)).host);
    if (!server) throw new Error(`no server at ${String(url)}`);
    return killed.aborted ? new Promise(() => undefined) : server(url, init);
  };
  const models = ALIASES.map((alias) => {
    const { provider, model } = MODELS[alias];
    const baseUrl = provider === 'openai-compatible' ? `http://${alias}.test/v1` : BASE_URLS[provider];
    const fallback = FALLBACK[alias];
    const contextWindow = options.limits.window;
    return [alias, { provider, model, baseUrl, apiKey: 'key', contextWindow, ...(fallback && { fallback }) }];
  });
  const opened = createModels({
    config: { models: Object.fromEntries(models), defaultModel: 'opus' },
    environment: {},
    clock,
    log: recordingLog(),
    random: () => 0.5,
    fetch,
    post: postOver(fetch),
  });
  await opened.start();
  return opened;
}

export const aboutModel = (alias: Alias) => ({ alias, provider: MODELS[alias].provider, modelId: MODELS[alias].model });

export const hasFallback = (alias: Alias): boolean => FALLBACK[alias] !== undefined;

/** Of which family a model is, by its alias. */
export const familyOf = (alias: Alias): string => {
  const { provider } = MODELS[alias];
  return provider === 'openai-compatible' ? alias : provider;
};

/** The alias of a model by its name on the wire. */
export const aliasOf = (model: string): Alias => {
  const found = ALIASES.find((alias) => MODELS[alias].model === model);
  if (!found) throw new Error(`no model ${model}`);
  return found;
};

/** Sends posts through a `fetch`, and closes the stream when the caller leaves. */
function postOver(fetch: typeof globalThis.fetch): Post {
  return async (url, { headers, body, signal }) => {
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    const reader = response.body?.getReader();
    return {
      status: response.status,
      statusText: response.statusText,
      headers: Object.fromEntries(response.headers),
      body: {
        async read() {
          const next = await reader?.read();
          return next?.value && [next.value];
        },
        cancel: () => void reader?.cancel().catch(() => undefined), // its server has closed it
      },
    };
  };
}
