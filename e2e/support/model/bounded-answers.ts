import type { Answer, ChatRequest } from './scripted-model.ts';
import { fail, say, useTokens } from './scripted-steps.ts';

const BYTES_PER_TOKEN = 4;

/** How a model with a small window counts a request. */
const tokensOf = (body: ChatRequest): number => Math.ceil(JSON.stringify(body).length / BYTES_PER_TOKEN);

/** Whether the daemon asks for a summary, and not for an answer. */
export const isForSummary = ({ messages }: ChatRequest): boolean =>
  JSON.stringify(messages[0]?.content ?? '').includes('You summarize a conversation');

/** The texts of a request, in one. */
export const textOf = ({ messages }: ChatRequest): string =>
  messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))).join('\n');

/**
 * Answers like a model whose window has this many tokens: refuses what is longer with the words of vLLM, and counts what
 * it reads. `refused` collects the sizes of refused requests.
 */
export function boundedAnswers(
  window: number,
  answer: (body: ChatRequest) => Answer,
): { decide(body: ChatRequest): Answer; refused: number[] } {
  const refused: number[] = [];
  return {
    refused,
    decide(body) {
      const tokens = tokensOf(body);
      if (tokens > window) {
        refused.push(tokens);
        const message = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens.`;
        return fail(400, { message });
      }
      const steps = answer(body);
      return [...('run' in steps ? [steps] : steps), useTokens({ prompt: tokens, completion: 20 })];
    },
  };
}

/** A summary that keeps the lines which begin with this word, and forgets everything else. */
export function summaryOf(body: ChatRequest, word: string): Answer {
  const kept = textOf(body)
    .split('\n')
    .filter((line) => line.startsWith(word));
  return say([...new Set(kept)].join('\n') || 'They talked.');
}
