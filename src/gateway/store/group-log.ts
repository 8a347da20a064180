import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { type Delta, isDelta, mergeDeltas } from './merge-deltas.ts';
import type { StoredEvent, Unit, UnitEvents } from './store.ts';

/** The events of one group, per log, with their offsets. */
export interface GroupLog {
  /**
   * Encodes a unit's events, which may throw. Returns a function that appends them, which never throws and returns the
   * offset of each event of the unit's own log.
   */
  prepare(unit: Unit): () => number[];
  appended(): Map<string, StoredEvent[]>;
}

/** A delta of a unit without statements stays open for merging; everything else is encoded at once. */
type Entry = { json: string } | { delta: Delta };
type PlacedEntry = Entry & { offset: number };

/** Offsets continue from `lastOffset`, the committed end of a log. */
export function createGroupLog(lastOffset: (wsId: string) => number): GroupLog {
  const logs = new Map<string, PlacedEntry[]>();
  const prepareOne = ({ wsId, events }: UnitEvents, alone: boolean) => {
    const entries = events.map((event) => toEntry(event, alone));
    const last = lastOffset(wsId);
    return (): number[] => {
      const log = logs.get(wsId) ?? [];
      if (entries.length > 0) logs.set(wsId, log);
      return entries.map((entry) => append(log, entry, last));
    };
  };
  return {
    prepare(unit) {
      const { events, elsewhere = [] } = unit;
      const alone = !unit.statements?.length && elsewhere.length === 0;
      const others = elsewhere.map((one) => prepareOne(one, false));
      const own = events ? prepareOne(events, alone) : () => [];
      return () => {
        for (const appendOther of others) appendOther();
        return own();
      };
    },
    appended() {
      const encoded = new Map<string, StoredEvent[]>();
      for (const [wsId, log] of logs) encoded.set(wsId, log.map(toStored));
      return encoded;
    },
  };
}

function toEntry(event: StreamEvent, alone: boolean): Entry {
  return alone && isDelta(event) ? { delta: event } : { json: JSON.stringify(event) };
}

function append(log: PlacedEntry[], entry: Entry, last: number): number {
  const newest = log.at(-1);
  const merged = newest && 'delta' in newest && 'delta' in entry ? mergeDeltas(newest.delta, entry.delta) : undefined;
  if (newest && 'delta' in newest && merged) {
    newest.delta = merged;
    return newest.offset;
  }
  const offset = last + log.length + 1;
  log.push({ ...entry, offset });
  return offset;
}

function toStored(entry: PlacedEntry): StoredEvent {
  return { offset: entry.offset, json: 'json' in entry ? entry.json : JSON.stringify(entry.delta) };
}
