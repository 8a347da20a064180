import type { Clock } from '../../clock.ts';
import type { EventLog } from '../events/event-log.ts';

/** An end older than this is history, not news. */
const FRESH_MS = 60_000;

/**
 * Ends of runs that no stream has carried. A client that opens its stream only after `send` was answered may be too
 * late for the end it waits for: the first fresh stream gets it once.
 */
export class UnseenEnds {
  readonly #clock: Clock;
  readonly #ends = new Map<string, { atMs: number; json: string; offset: number }>();
  /** Workstreams whose run in progress was started by `send`. */
  readonly #awaited = new Set<string>();

  constructor({ clock, events }: { clock: Clock; events: Pick<EventLog, 'onAppended'> }) {
    this.#clock = clock;
    events.onAppended((wsId, entries) => {
      const end = entries.findLast(({ type, json }) => type === 'ws_state' && json.includes('"run":'));
      if (end && this.#awaited.delete(wsId)) this.#ends.set(wsId, { ...end, atMs: clock.now() });
    });
  }

  /** A newer run began: an earlier end is nobody's news any more. */
  begun(wsId: string, bySend: boolean): void {
    this.#ends.delete(wsId);
    if (bySend) this.#awaited.add(wsId);
    else this.#awaited.delete(wsId);
  }

  /** A stream has written the log up to this offset. */
  written(wsId: string, offset: number): void {
    const end = this.#ends.get(wsId);
    if (end && offset >= end.offset) this.#ends.delete(wsId);
  }

  /** The end nobody saw, as JSON text, once; not when it comes after `after`, which the stream itself carries. */
  take(wsId: string, after: number): string | undefined {
    const end = this.#ends.get(wsId);
    this.#ends.delete(wsId);
    return end && end.offset <= after && this.#clock.now() - end.atMs < FRESH_MS ? end.json : undefined;
  }

  forget(wsId: string): void {
    this.#ends.delete(wsId);
    this.#awaited.delete(wsId);
  }
}
