import type { ModelRequest } from '../model.ts';

/**
 * Makes call ids that are unique in their workstream and valid for every provider. Some servers use `call_0` in each
 * answer, or count the calls of the request, so that ids come again after a retry or a summary. Others use characters that
 * another provider rejects when the conversation moves to it.
 */
export function createCallIds({
  messages,
  earlierCalls,
  callIdSuffix = '',
}: Pick<ModelRequest, 'messages' | 'earlierCalls' | 'callIdSuffix'>): {
  take(id: string): string;
} {
  const taken = new Set<string>();
  for (const message of messages) {
    if (message.role === 'assistant') for (const { id } of message.toolCalls) taken.add(id);
  }
  const isFree = (id: string) => !taken.has(id) && !earlierCalls?.has(id);
  return {
    take(id) {
      const base = `${id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_CHARS - callIdSuffix.length) || 'call'}${callIdSuffix}`;
      let unique = base;
      for (let n = 2; !isFree(unique); n++) unique = `${base}_${n}`;
      taken.add(unique);
      return unique;
    },
  };
}

// Providers accept 64 characters; the rest is for the number.
const MAX_CHARS = 56;
