import type { Provider } from './provider.ts';

/** vLLM, llama.cpp, Ollama, LM Studio, gateways: whatever speaks chat completions at some base URL, with or without a key. */
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
  // Servers without reasoning refuse the parameter, so the default effort is not sent at all.
  options: ({ effort }) => (effort === 'medium' ? {} : { reasoning: effort }),
  sendsPlainReasoning: true,
};
