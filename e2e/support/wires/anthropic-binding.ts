import { createHash } from 'node:crypto';
import type { AnthropicBody } from './anthropic-body.ts';
import { seal } from './seal.ts';

/** The models that bind their thoughts to everything before them. */
export const isBinding = (model: string): boolean => /^claude-(fable-5-[12]|opus-5-5|sonnet-5-5)/.test(model);

/** Signs a thought. */
export const thoughtSeal = (thinking: string): string => seal('thinking', thinking);

/** Signs a summary. */
export const summarySeal = (content: string): string => seal('compaction', content);

/** The signature of a thought at the end of a request. */
export const signatureFor = (body: AnthropicBody, thinking: string): string =>
  `${thoughtSeal(thinking)}.${isBinding(body.model) ? placesOf(body).end : UNBOUND}`;

const UNBOUND = 'free';

/** The thoughts that do not stand after what they were bound to. Those of models that bind nothing stand anywhere. */
export function findUnbound(body: AnthropicBody): string[] {
  if (!isBinding(body.model)) return [];
  return placesOf(body).thoughts.flatMap(({ at, place, signature }) => {
    const bound = signature.split('.')[1];
    return bound === UNBOUND || bound === place ? [] : [at];
  });
}

/** What a thought is bound to: the system prompt, the tools and all blocks before it, without marks for caches. */
function placesOf({ system, tools, messages }: AnthropicBody) {
  const thoughts: { at: string; place: string; signature: string }[] = [];
  const hash = createHash('sha256').update(textOf([system, tools]));
  for (const [index, { role, content }] of messages.entries()) {
    hash.update(role);
    for (const [number, block] of content.entries()) {
      if (block.type === 'thinking') {
        const at = `messages.${index}.content.${number}`;
        thoughts.push({ at, place: hash.copy().digest('base64'), signature: block.signature });
      }
      hash.update(textOf(block));
    }
  }
  return { thoughts, end: hash.update('assistant').digest('base64') };
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (key, part: unknown) => (key === 'cache_control' ? undefined : part));
