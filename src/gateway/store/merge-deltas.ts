import type { StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';

/** A piece of a growing text; two adjacent ones are equivalent to their concatenation. */
export type Delta = StreamEventOf<'content'> | StreamEventOf<'reasoning'> | StreamEventOf<'tool_output_chunk'>;

/** Merges two adjacent deltas; undefined when they belong to different texts or would grow too long. */
export function mergeDeltas(older: Delta, newer: Delta, maxLength = 32_768): Delta | undefined {
  const length = textOf(older).length + textOf(newer).length;
  if (older.type !== newer.type || callOf(older) !== callOf(newer) || length > maxLength) return undefined;
  return withText(older, textOf(older) + textOf(newer));
}

export const textOf = (delta: Delta): string => (delta.type === 'tool_output_chunk' ? delta.chunk : delta.text);

/** The same delta with another text. */
export const withText = (delta: Delta, text: string): Delta =>
  delta.type === 'tool_output_chunk' ? { ...delta, chunk: text } : { ...delta, text };

const callOf = (delta: Delta): string | undefined => (delta.type === 'tool_output_chunk' ? delta.call_id : undefined);

export function isDelta(event: StreamEvent): event is Delta {
  return event.type === 'content' || event.type === 'reasoning' || event.type === 'tool_output_chunk';
}
