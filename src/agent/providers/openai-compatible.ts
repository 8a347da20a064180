import type { Provider } from './provider.ts';

/**
 * Any server with an OpenAI-style chat completions API, with or without a key: vLLM, llama.cpp, Ollama, LM Studio,
 * gateways.
 */
export const openaiCompatible: Provider = {
  async open({ modelId, baseUrl, apiKey, fetch }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({
      name: 'openaiCompatible',
      baseURL: baseUrl,
      includeUsage: true,
      ...(apiKey !== undefined && { apiKey }),
      fetch,
    }).chatModel(modelId);
  },
  // Servers without reasoning reject the parameter, so the default effort is not sent.
  options: ({ effort }) => (effort === 'medium' ? {} : { reasoning: effort }),
  sendsPlainReasoning: true,
};
