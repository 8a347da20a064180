import type { StreamEventOf } from '../../../protocol/stream-events.ts';
import type { Clock } from '../../clock.ts';
import type { EventLog } from '../events/event-log.ts';
import type { LogEntry } from '../events/log-reader.ts';

/** A run that ended longer ago is part of the history. */
const FRESH_MS = 3_000;
/** How long a new stream waits for a message that its client may be about to send. */
const HOLD_MS = 300;

/** Where a run began. */
export interface RunPlace {
  /** The offset of its `user_turn`. */
  after: number;
  /** The number of messages stored by then, including its own. */
  upTo: number;
}

/** The newest run of a workstream, if `send` started it. */
export interface SentRun {
  place: RunPlace;
  /** Aborts when a newer run begins, or when the run is forgotten. */
  superseded: AbortSignal;
  end?: { offset: number; atMs: number };
}

interface Entry extends SentRun {
  supersede: AbortController;
  isSeen: boolean;
}

/**
 * Runs that ended before any event stream delivered them. A client that opens its stream only after `send` was answered
 * may miss a short run, but must still get its events (decision 3).
 */
export class UnseenRuns {
  readonly #clock: Clock;
  readonly #runs = new Map<string, Entry>();
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, events }: { clock: Clock; events: Pick<EventLog, 'onAppended'> }) {
    this.#clock = clock;
    events.onAppended((wsId, entries) => {
      const end = entries.findLast(endsRun);
      const run = this.#runs.get(wsId);
      if (end && run) run.end = { offset: end.offset, atMs: clock.monotonic() };
      if (entries.some(changesHistory)) this.#forget(wsId);
    });
  }

  /** A run began, so earlier runs are history. `place` is undefined for runs that `send` did not start. */
  begun(wsId: string, place: RunPlace | undefined): void {
    this.#forget(wsId);
    this.#sweep();
    if (place) this.#runs.set(wsId, createEntry(place));
  }

  /** From now on it is history, also for the streams that wait for a newer run. */
  #forget(wsId: string): void {
    this.#runs.get(wsId)?.supersede.abort(SUPERSEDED);
    this.#runs.delete(wsId);
  }

  /** Forgets old runs. Not at every run, because looking at all others would then cost more than the rest. */
  #sweep(): void {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#sweptMs < FRESH_MS) return;
    this.#sweptMs = nowMs;
    for (const [id, { end }] of this.#runs) if (isOld(end, nowMs)) this.#runs.delete(id);
  }

  /** Restores a run that ended shortly before the daemon did; the log ends at `endOffset`. */
  restore(wsId: string, { place, endOffset }: { place: RunPlace; endOffset: number }): void {
    if (this.#runs.has(wsId)) return;
    this.#runs.set(wsId, { ...createEntry(place), end: { offset: endOffset, atMs: this.#clock.monotonic() } });
  }

  /** A stream has delivered the log up to this offset. */
  written(wsId: string, offset: number): void {
    const run = this.#runs.get(wsId);
    if (run?.end && offset >= run.end.offset) run.isSeen = true;
  }

  /** The newest run, running or ended. */
  newest(wsId: string): SentRun | undefined {
    return this.#runs.get(wsId);
  }

  /** The newest run, if it has just ended and no stream has delivered its end. */
  findEnded(wsId: string): SentRun | undefined {
    const run = this.#runs.get(wsId);
    return !run?.end || run.isSeen || isOld(run.end, this.#clock.monotonic()) ? undefined : run;
  }

  /** Waits for a newer run; true when none began in time. Also false when the run is forgotten or the signal aborts. */
  async staysNewest({ superseded }: SentRun, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#clock.sleep(HOLD_MS, AbortSignal.any([superseded, signal]));
      return true;
    } catch {
      return false; // only the signals end a sleep early
    }
  }
}

/** Given to every abort, because making an error for each run costs more than the rest of its bookkeeping here. */
const SUPERSEDED = 'the run is history';

const isOld = (end: Entry['end'], nowMs: number): boolean => end !== undefined && nowMs - end.atMs >= FRESH_MS;

/** The state after a run carries the run's outcome. */
function endsRun({ type, json }: LogEntry): boolean {
  if (type !== 'ws_state') return false;
  const { run }: StreamEventOf<'ws_state'> = JSON.parse(json);
  return run !== undefined;
}

/**
 * Whether an event changes which earlier messages histories show. They then no longer fit the place of a run before it,
 * whose replay might even show an answer without its question.
 */
export const changesHistory = ({ type }: Pick<LogEntry, 'type'>): boolean =>
  type === 'rewound' || type === 'message_removed' || type === 'clear_ui';

function createEntry(place: RunPlace): Entry {
  const supersede = new AbortController();
  return { place, supersede, superseded: supersede.signal, isSeen: false };
}
