import type { Provider } from './provider.ts';

/** Google's Gemini API, with thoughts shown for models that have them. */
export const google: Provider = {
  async open({ modelId, baseUrl, apiKey, fetch }) {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch }).languageModel(modelId);
  },
  options: ({ effort }, modelId) =>
    isThinkingModel(modelId)
      ? { reasoning: effort, providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } }
      : {},
  sendsPlainReasoning: false,
};

const isThinkingModel = (modelId: string) => !/gemini-(1|2\.0)|gemma/.test(modelId);
