import type { Provider } from './provider.ts';

/** Anthropic's Messages API with thinking and automatic prompt caching. */
export const anthropic: Provider = {
  async open({ modelId, baseUrl, apiKey, fetch }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch }).languageModel(modelId);
  },
  options: ({ effort }, modelId) => ({
    ...(!/^claude-3/.test(modelId) && { reasoning: effort }),
    // Pings show that a long silent reasoning is alive.
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' }, includePings: true } },
  }),
  sendsPlainReasoning: false,
};
