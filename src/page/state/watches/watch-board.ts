import { type ReadonlySignal, signal } from '@preact/signals';
import type { Watch } from '../../../../protocol/events/watch.ts';
import { attempt } from '../accounts/refusal.ts';
import { type PageClient, Reading } from '../reading/reading.ts';

interface Port {
  /** Only those of one workstream. */
  wsId?: string;
  client: PageClient;
  /** The watch that changed last, in any of the open workstreams. */
  changed: ReadonlySignal<Watch | undefined>;
}

/** Watches: of all workstreams that the person sees, or of one. Nothing is read until they are shown. */
export class WatchBoard {
  readonly #port: Port;
  readonly reading: Reading;
  readonly #watches = signal<readonly Watch[] | undefined>(undefined);
  readonly #withEnded = signal(false);

  constructor(port: Port) {
    this.#port = port;
    this.reading = new Reading(port.client);
  }

  /** The newest first. Undefined until the first answer. */
  get watches(): ReadonlySignal<readonly Watch[] | undefined> {
    return this.#watches;
  }

  /** Whether those are listed, too, that had ended before they were read. */
  get withEnded(): ReadonlySignal<boolean> {
    return this.#withEnded;
  }

  /** Called when the list is shown. Call the returned function when it is not any more. */
  follow(): () => void {
    void this.read();
    const { client, changed } = this.#port;
    // An event tells of a new output and of the end. The times of the next polls come with the list.
    const stopTicks = client.on('tick', () => void this.read());
    let isFirst = true; // the one that changed before the list was read
    const stopEvents = changed.subscribe((watch) => {
      if (watch !== undefined && !isFirst) this.#keep(watch);
    });
    isFirst = false;
    return () => {
      stopTicks();
      stopEvents();
    };
  }

  read(withEnded = this.#withEnded.peek()): Promise<void> {
    const { client, wsId } = this.#port;
    this.#withEnded.value = withEnded;
    return this.reading.read(
      () => client.call('watch.list', { ...(wsId !== undefined && { wsId }), ...(withEnded && { ended: true }) }),
      ({ watches }) => {
        this.#watches.value = watches;
      },
    );
  }

  /** Returns an error message, or undefined on success. */
  async cancel(watchId: string): Promise<string | undefined> {
    const problem = await attempt(async () => {
      const { watch } = await this.#port.client.call('watch.cancel', { watchId });
      this.#keep(watch);
    });
    if (problem !== undefined) void this.read(); // it may be gone
    return problem;
  }

  #keep(watch: Watch): void {
    const before = this.#watches.peek();
    const { wsId = watch.ws_id } = this.#port;
    if (before === undefined || watch.ws_id !== wsId) return;
    const at = before.findIndex(({ watch_id }) => watch_id === watch.watch_id);
    this.#watches.value = at < 0 ? [watch, ...before] : before.with(at, watch);
  }
}
