import type { Provider } from './provider.ts';

/** OpenAI's Responses API without storage on their side: reasoning comes back encrypted and is sent again. */
export const openai: Provider = {
  async open({ modelId, baseUrl, apiKey, fetch }) {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch }).responses(modelId);
  },
  options: ({ effort, conversation }, modelId) => ({
    ...(isReasoningModel(modelId) && { reasoning: effort }),
    providerOptions: {
      openai: {
        store: false,
        ...(conversation !== undefined && { promptCacheKey: conversation }),
        ...(isReasoningModel(modelId) && { reasoningSummary: 'auto' }),
      },
    },
  }),
  sendsPlainReasoning: false,
};

const isReasoningModel = (modelId: string) => !/^(gpt-3|gpt-4|chatgpt)|-chat-latest$/.test(modelId);
