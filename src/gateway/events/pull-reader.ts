import type { LogEntry, LogReader, Sink } from './log-reader.ts';

export interface PullReaderDeps {
  after: number;
  sink: Sink;
  /** The entries after an offset that are in memory; undefined when some are no longer there. */
  tail(offset: number): readonly LogEntry[] | undefined;
  page(offset: number): Promise<readonly LogEntry[]>;
  onClosed(): void;
  onFailed(error: unknown): void;
}

/** Pulls a log into a sink while the sink has room. Otherwise it holds only an offset. */
export class PullReader implements LogReader {
  readonly #deps: PullReaderDeps;
  #offset: number;
  #closed = false;
  #loading = false;
  /** Prevents a sink that calls `resume` during a write from getting the next entries inside it. */
  #delivering = false;

  constructor(deps: PullReaderDeps) {
    this.#deps = deps;
    this.#offset = deps.after;
  }

  get offset(): number {
    return this.#offset;
  }

  /** Offers new entries of the log. A reader at the end takes them; others pull later. */
  offer(entries: readonly LogEntry[]): void {
    const isNext = entries[0]?.offset === this.#offset + 1;
    if (!isNext || this.#closed || this.#loading || this.#delivering) this.resume();
    else if (this.#deps.sink.ready()) this.#deliver(entries);
  }

  resume(): void {
    const { sink, tail } = this.#deps;
    while (!this.#closed && !this.#loading && !this.#delivering && sink.ready()) {
      const entries = tail(this.#offset);
      if (!entries) {
        void this.#load();
        return;
      }
      if (entries.length === 0) return;
      this.#deliver(entries);
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#deps.onClosed();
  }

  #deliver(entries: readonly LogEntry[]): void {
    this.#offset = entries.at(-1)?.offset ?? this.#offset;
    this.#delivering = true;
    try {
      this.#deps.sink.write(entries);
    } finally {
      this.#delivering = false;
    }
  }

  async #load(): Promise<void> {
    this.#loading = true;
    try {
      const entries = await this.#deps.page(this.#offset);
      this.#loading = false;
      if (entries.length === 0) return;
      // If the sink filled up meanwhile, it gets the page again later, so a stalled client uses no memory.
      if (!this.#closed && this.#deps.sink.ready()) this.#deliver(entries);
      this.resume();
    } catch (error) {
      this.#loading = false;
      this.#deps.onFailed(error);
    }
  }
}
