import type { AgentMemory, StoredTaint } from './memory-source.ts';

/**
 * A value as one line of JSON in which nothing can end the block that it stands in, or begin another one. Words in it are
 * data, whatever they look like.
 */
export const quoted = (value: object): string => JSON.stringify(value).replace(UNQUOTED, toEscapes);

/** `<` begins tags; the others break lines, or turn the direction of what follows. */
const UNQUOTED = /[<\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

const toEscapes = (text: string): string =>
  Array.from({ length: text.length }, (_, n) => `\\u${text.charCodeAt(n).toString(16).padStart(4, '0')}`).join('');

/** A memory with its source, for the model. `most`: how many characters of its content are shown. */
export function quotedMemory(memory: AgentMemory, most: number): string {
  const { name, scope, type, description, by, wsId, updatedMs, isUntrusted, content } = memory;
  const shown = content.slice(0, most);
  return quoted({
    name,
    scope,
    type,
    saved_by: by ?? 'unknown',
    ...(wsId !== undefined && { workstream: wsId }),
    saved: new Date(updatedMs).toISOString(),
    ...(isUntrusted && { untrusted: true }),
    ...(description !== '' && { description }),
    content: shown,
    ...(shown.length < content.length && { cut_off_after: most }),
  });
}

/** What they bring into a conversation; undefined if all of them can be trusted. */
export function taintOfMemories(memories: readonly AgentMemory[]): StoredTaint | undefined {
  const untrusted = memories.find(({ isUntrusted }) => isUntrusted);
  return untrusted && { kind: 'memory', target: untrusted.name };
}
