import { mostTextOf } from '../../attached-content.ts';
import type { AssistantMessage, Message } from '../../message.ts';
import type { Model, Usage } from '../../providers/model.ts';

/** How many tokens a call may use. */
export interface CallSize {
  /** At most, as far as the length of the request and the output limit of the model tell. */
  most: Usage;
  /** What is counted if the call breaks off before its usage is known. */
  expected: Usage;
}

/** Even dense text has fewer tokens than half of its bytes in UTF-8. */
const MOST_TOKENS_PER_BYTE = 0.5;
/** Usual text, and code. */
const USUAL_TOKENS_PER_BYTE = 0.25;
/** System prompt and tools, before they are known. */
const PREAMBLE_BYTES = 24_000;
/** An image; the makers resize larger ones. */
const IMAGE_TOKENS = 2_000;
/** The output limit of today's largest models. */
const MOST_OUTPUT = 128_000;
const USUAL_OUTPUT = 500;

/** The longest last answer of a run that may not spend more. */
export const LAST_ANSWER_TOKENS = 4_000;

/** The same call with a short answer. */
export function lastCallOf({ most, expected: { promptTokens } }: CallSize): CallSize {
  const completionTokens = Math.min(most.completionTokens, LAST_ANSWER_TOKENS);
  const usage = { ...most, promptTokens, completionTokens };
  return { most: usage, expected: usage };
}

/** Estimates the tokens of an answer. */
export function usualTokensOf({ content, reasoning = '', toolCalls }: AssistantMessage): number {
  return Math.ceil(Buffer.byteLength(content + reasoning + JSON.stringify(toolCalls)) * USUAL_TOKENS_PER_BYTE);
}

/** Estimates the next call of a conversation. */
export function sizeOf(
  messages: readonly Message[],
  { maxOutputTokens = MOST_OUTPUT }: Pick<Model, 'maxOutputTokens'>,
  preambleBytes: number = PREAMBLE_BYTES,
): CallSize {
  let bytes = preambleBytes;
  let images = 0;
  for (const message of messages) {
    bytes += Buffer.byteLength(JSON.stringify(message));
    if (message.role === 'assistant') continue;
    for (const attachment of message.attachments ?? []) {
      if (attachment.kind === 'image') images += 1;
      else bytes += mostTextOf(attachment);
    }
  }
  const attached = images * IMAGE_TOKENS;
  const usageOf = (tokensPerByte: number, completionTokens: number): Usage => ({
    promptTokens: Math.ceil(bytes * tokensPerByte) + attached,
    completionTokens,
    cacheCreationTokens: 0,
    cacheReadTokens: 0,
  });
  return {
    most: usageOf(MOST_TOKENS_PER_BYTE, maxOutputTokens),
    expected: usageOf(USUAL_TOKENS_PER_BYTE, Math.min(USUAL_OUTPUT, maxOutputTokens)),
  };
}
