import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { PageClient } from '../reading/reading.ts';

interface Port {
  client: Pick<PageClient, 'call' | 'on' | 'isOpen'>;
  /** The workstream that the page shows; undefined while it shows none, or nobody can see the page. */
  seen: ReadonlySignal<string | undefined>;
}

/** Tells the daemon which workstream the page shows, and knows who else sees it. */
export class Viewers {
  /** The users who see the workstream that the page shows, this one too. */
  readonly userIds = signal<readonly string[]>([]);
  readonly #port: Port;
  /** Whether the daemon believes that the page shows a workstream. */
  #isTold = false;
  readonly stop: () => void;

  constructor(port: Port) {
    this.#port = port;
    const stopEvents = port.client.on('workstream.viewers', ({ wsId, userIds }) => {
      if (wsId === port.seen.peek()) this.userIds.value = userIds;
    });
    const stopTelling = effect(() => {
      const wsId = port.seen.value;
      if (!port.client.isOpen.value) this.#isTold = false;
      else if (wsId !== undefined || this.#isTold) void this.#tell(wsId);
    });
    this.stop = () => {
      stopEvents();
      stopTelling();
    };
  }

  async #tell(wsId: string | undefined): Promise<void> {
    const { client, seen } = this.#port;
    this.#isTold = wsId !== undefined;
    this.userIds.value = [];
    try {
      const { userIds } = await client.call('events.view', wsId === undefined ? {} : { wsId });
      if (wsId === seen.peek()) this.userIds.value = userIds;
    } catch {
      // A lost connection, after which it is told again; or the workstream is gone, and the page shows another one.
    }
  }
}
