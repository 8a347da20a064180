import type { AssistantMessage, Message } from '../message.ts';
import { findOriginalParts } from './ai-sdk/original-parts.ts';
import type { Provider } from './provider.ts';

/** Anthropic's Messages API with thinking and automatic prompt caching. */
export const anthropic: Provider = {
  async open({ modelId, baseUrl, apiKey, fetch }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch }).languageModel(modelId);
  },
  options: ({ effort, mayPause, messages, toSummarize }, modelId) => ({
    ...(mayThink(modelId, messages) && { reasoning: effort }),
    providerOptions: {
      anthropic: {
        // Five minutes without a ttl, which is less than a person may take for an approval.
        cacheControl: { type: 'ephemeral', ...(mayPause && { ttl: '1h' }) },
        // Pings show that a long silent reasoning is alive.
        includePings: true,
        ...(bindsReasoning(modelId) && { thinking: THINKING }),
        ...(toSummarize && { compaction: { type: 'summarize', instructions: toSummarize.instructions } }),
      },
    },
  }),
  sendsPlainReasoning: false,
  bindsReasoning,
  writesSummaries: (modelId) => WRITES_SUMMARIES.test(modelId),
};

/** By the catalog of the SDK, and later ones. */
const WRITES_SUMMARIES = /^claude-(opus-4-[678]|sonnet-4-6|(fable|opus|sonnet|haiku)-([5-9]|\d\d))/;

/**
 * Models with a budget for thoughts demand them at the beginning of an answer whose results they read. If another model gave
 * that answer, the request is sent without thinking.
 */
function mayThink(modelId: string, messages: readonly Message[]): boolean {
  if (/^claude-3/.test(modelId)) return false;
  const last = messages.findLast(isSaid);
  if (bindsReasoning(modelId) || !last || last.toolCalls.length === 0) return true;
  const parts = findOriginalParts(last, { provider: 'anthropic', modelId });
  return parts?.[0]?.type === 'reasoning';
}

/** Other answers are not sent. */
const isSaid = (message: Message): message is AssistantMessage =>
  message.role === 'assistant' && (message.content.trim() !== '' || message.toolCalls.length > 0);

function bindsReasoning(modelId: string): boolean {
  return /^claude-(fable-5-[12]|opus-5-5|sonnet-5-5)/.test(modelId);
}

/**
 * Requests keep the beginning of their conversation. Should one differ after all, the server drops the thoughts that no
 * longer fit, instead of refusing the request. The other fields are the defaults of the SDK.
 */
const THINKING = {
  type: 'adaptive',
  display: 'summarized',
  blockBinding: { prefixMismatchBehavior: 'drop_block' },
} as const;
