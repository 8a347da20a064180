import type { StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';

/** Pieces of one growing text; two neighbours say the same as their concatenation. */
export type Delta = StreamEventOf<'content'> | StreamEventOf<'reasoning'> | StreamEventOf<'tool_output_chunk'>;

/** The one event that stands for two neighbours, or undefined when they are not of one text or would grow too long. */
export function mergeDeltas(older: Delta, newer: Delta, maxLength = 32_768): Delta | undefined {
  const length = textOf(older).length + textOf(newer).length;
  if (older.type !== newer.type || callOf(older) !== callOf(newer) || length > maxLength) return undefined;
  return older.type === 'tool_output_chunk'
    ? { ...older, chunk: older.chunk + textOf(newer) }
    : { ...older, text: older.text + textOf(newer) };
}

const textOf = (delta: Delta): string => (delta.type === 'tool_output_chunk' ? delta.chunk : delta.text);
const callOf = (delta: Delta): string | undefined => (delta.type === 'tool_output_chunk' ? delta.call_id : undefined);

export function isDelta(event: StreamEvent): event is Delta {
  return event.type === 'content' || event.type === 'reasoning' || event.type === 'tool_output_chunk';
}
