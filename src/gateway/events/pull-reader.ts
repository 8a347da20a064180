import type { LogEntry, LogReader, Sink } from './log-reader.ts';

/** Where readers find the entries of logs; all readers share it. */
export interface PulledLogs {
  /** The entries after an offset that are in memory; undefined when some are no longer there. */
  tail(wsId: string, offset: number): readonly LogEntry[] | undefined;
  page(wsId: string, offset: number): Promise<readonly LogEntry[]>;
  /** A page could not be read. `again` is called once it may be there. `isNew`: the reader has not said so before. */
  onFailed(failure: { wsId: string; error: unknown; isNew: boolean; again(): void }): void;
}

export interface PullReaderDeps {
  wsId: string;
  after: number;
  sink: Sink;
  logs: PulledLogs;
  /** Called after each write. */
  onWritten?: ((wsId: string, entries: readonly LogEntry[]) => void) | undefined;
  onClosed(reader: PullReader): void;
}

/** More frames that are not in the log do not wait for one reader; the oldest are lost. */
const MOST_MISSED = 200;

/** Pulls a log into a sink while the sink has room. Otherwise it holds only an offset. */
export class PullReader implements LogReader {
  // Each event of a log passes through all of its readers, so what that needs is one step away.
  readonly #sink: Sink;
  readonly #wsId: string;
  readonly #onWritten: PullReaderDeps['onWritten'];
  readonly #deps: PullReaderDeps;
  #offset: number;
  #closed = false;
  #loading = false;
  /** The last page could not be read. */
  #hasFailed = false;
  /** Prevents a sink that calls `resume` during a write from getting the next entries inside it. */
  #delivering = false;
  /** Frames that wait until the reader has caught up with the log, by their keys; few readers ever have one. */
  #missed: Map<string, string> | undefined;

  constructor(deps: PullReaderDeps) {
    this.#deps = deps;
    this.#sink = deps.sink;
    this.#wsId = deps.wsId;
    this.#onWritten = deps.onWritten;
    this.#offset = deps.after;
  }

  get offset(): number {
    return this.#offset;
  }

  /** Offers new entries of the log. A reader at the end takes them; others pull later. */
  offer(entries: readonly LogEntry[]): void {
    const isNext = entries[0]?.offset === this.#offset + 1;
    if (!isNext || this.#closed || this.#loading || this.#delivering) this.resume();
    else if (this.#sink.ready()) this.#deliver(entries);
  }

  resume(): void {
    const { logs } = this.#deps;
    while (!this.#closed && !this.#loading && !this.#delivering && this.#sink.ready()) {
      const entries = logs.tail(this.#wsId, this.#offset);
      if (!entries) {
        void this.#load();
        return;
      }
      if (entries.length === 0) {
        this.#tellMissed();
        return;
      }
      this.#deliver(entries);
    }
  }

  /** Passes on a frame that is not in the log. With a key, it waits until the reader has caught up, unless a later one has the key. */
  transient(json: string, key: string | undefined): void {
    if (this.#closed || !this.#sink.transient) return;
    const isCurrent = !this.#loading && !this.#hasFailed && !this.#missed?.size;
    if (key === undefined || (isCurrent && this.#sink.ready())) this.#sink.transient(json);
    else this.#miss(key, json);
  }

  #miss(key: string, json: string): void {
    this.#missed ??= new Map();
    this.#missed.delete(key); // moved to the end: the order is that of the latest ones
    this.#missed.set(key, json);
    const [oldest] = this.#missed.keys();
    if (this.#missed.size > MOST_MISSED && oldest !== undefined) this.#missed.delete(oldest);
  }

  #tellMissed(): void {
    for (const [key, json] of this.#missed ?? []) {
      if (!this.#sink.ready()) return;
      this.#missed?.delete(key);
      this.#sink.transient?.(json);
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#missed = undefined;
    this.#deps.onClosed(this);
  }

  #deliver(entries: readonly LogEntry[]): void {
    this.#offset = entries.at(-1)?.offset ?? this.#offset;
    this.#delivering = true;
    try {
      this.#sink.write(entries);
    } finally {
      this.#delivering = false;
    }
    this.#onWritten?.(this.#wsId, entries);
  }

  async #load(): Promise<void> {
    const { logs } = this.#deps;
    this.#loading = true;
    try {
      const entries = await logs.page(this.#wsId, this.#offset);
      this.#loading = false;
      this.#hasFailed = false;
      if (entries.length === 0) return this.#tellMissed();
      // If the sink filled up meanwhile, it gets the page again later, so a stalled client uses no memory.
      if (!this.#closed && this.#sink.ready()) this.#deliver(entries);
      this.resume();
    } catch (error) {
      this.#loading = false;
      const isNew = !this.#hasFailed;
      this.#hasFailed = true;
      logs.onFailed({ wsId: this.#wsId, error, isNew, again: () => this.resume() });
    }
  }
}
