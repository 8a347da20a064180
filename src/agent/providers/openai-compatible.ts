import { openChatModel } from './chat-completions/chat-model.ts';
import type { Provider } from './provider.ts';

/**
 * Any server with an OpenAI-style chat completions API, with or without a key: vLLM, llama.cpp, Ollama, LM Studio,
 * gateways.
 */
export const openaiCompatible: Provider = {
  open: openChatModel,
  // Servers without reasoning reject the parameter, so the default effort is not sent.
  options: ({ effort }) => (effort === 'medium' ? {} : { reasoning: effort }),
  sendsPlainReasoning: true,
};
