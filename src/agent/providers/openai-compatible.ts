import { openChatModel } from './chat-completions/chat-model.ts';
import type { Provider } from './provider.ts';
import { UNSENT_EFFORT } from './retrying/refused-effort.ts';

/**
 * Any server with an OpenAI-style chat completions API, with or without a key: vLLM, llama.cpp, Ollama, LM Studio,
 * gateways.
 */
export const openaiCompatible: Provider = {
  open: openChatModel,
  // Servers without reasoning reject the parameter, so the default effort is not sent.
  options: ({ effort }) => (effort === UNSENT_EFFORT ? {} : { reasoning: effort }),
  sendsPlainReasoning: true,
};
