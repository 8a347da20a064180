import assert from 'node:assert/strict';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { LogStore } from '../events/event-log.ts';
import type { LogEntry, Sink } from '../events/log-reader.ts';
import type { StoredEvent } from '../store/store.ts';

/** Logs in memory; each `append` is a group. */
export function memoryLog() {
  const logs = new Map<string, StoredEvent[]>();
  const listeners: Parameters<LogStore['onCommitted']>[0][] = [];
  const of = (wsId: string) => logs.get(wsId) ?? [];
  const store: LogStore = {
    epoch: 'e1',
    beginLog: () => assert.fail('no workstream is created'),
    bounds: (wsId) => ({ first: of(wsId)[0]?.offset ?? 1, last: of(wsId).at(-1)?.offset ?? 0 }),
    readEvents: async (wsId, after, limit) =>
      of(wsId)
        .filter(({ offset }) => offset > after)
        .slice(0, limit),
    onCommitted: (listener) => void listeners.push(listener),
  };
  return {
    store,
    append(wsId: string, ...events: StreamEvent[]) {
      const { last } = store.bounds(wsId);
      const stored = events.map((event, index) => ({ offset: last + index + 1, json: JSON.stringify(event) }));
      logs.set(wsId, [...of(wsId), ...stored]);
      for (const listener of listeners) listener(new Map([[wsId, stored]]));
    },
    events: (wsId: string): StreamEvent[] => of(wsId).map(({ json }) => JSON.parse(json)),
  };
}

/** A sink that accepts a limited number of writes and records them. */
export function roomySink(room = Number.POSITIVE_INFINITY) {
  const written: { offset: number; event: StreamEvent }[] = [];
  const transients: string[] = [];
  const state = { room, writes: 0 };
  const sink: Sink = {
    ready: () => state.room > 0,
    write(entries: readonly LogEntry[]) {
      state.room -= 1;
      state.writes += 1;
      for (const { offset, json } of entries) written.push({ offset, event: JSON.parse(json) });
    },
    transient: (json) => void transients.push(json),
  };
  return { sink, written, transients, state };
}

export const content = (text: string): StreamEvent => ({ type: 'content', text });
