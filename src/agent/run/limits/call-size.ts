import { mostTextOf } from '../../attached-content.ts';
import type { Message } from '../../message.ts';
import type { Model, Usage } from '../../providers/model.ts';

/** How many tokens a call may use. */
export interface CallSize {
  /** At most, as far as the length of the request and the output limit of the model tell. */
  most: Usage;
  /** What is counted if the call breaks off before its usage is known. */
  expected: Usage;
}

/** Even dense text has fewer tokens than half of its bytes. */
const MOST_TOKENS_PER_CHAR = 0.5;
/** Usual text, and code. */
export const USUAL_TOKENS_PER_CHAR = 0.25;
/** System prompt and tools. */
const PREAMBLE_CHARS = 24_000;
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

/** Estimates the next call of a conversation. */
export function sizeOf(
  messages: readonly Message[],
  { maxOutputTokens = MOST_OUTPUT }: Pick<Model, 'maxOutputTokens'>,
  preambleChars: number = PREAMBLE_CHARS,
): CallSize {
  let chars = preambleChars;
  let images = 0;
  for (const message of messages) {
    chars += JSON.stringify(message).length;
    if (message.role === 'assistant') continue;
    for (const attachment of message.attachments ?? []) {
      if (attachment.kind === 'image') images += 1;
      else chars += mostTextOf(attachment);
    }
  }
  const attached = images * IMAGE_TOKENS;
  const usageOf = (tokensPerChar: number, completionTokens: number): Usage => ({
    promptTokens: Math.ceil(chars * tokensPerChar) + attached,
    completionTokens,
    cacheCreationTokens: 0,
    cacheReadTokens: 0,
  });
  return {
    most: usageOf(MOST_TOKENS_PER_CHAR, maxOutputTokens),
    expected: usageOf(USUAL_TOKENS_PER_CHAR, Math.min(USUAL_OUTPUT, maxOutputTokens)),
  };
}
