import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { parseCursor } from '../../../protocol/cursor.ts';
import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';

interface EventFlowDeps {
  client: Pick<GatewayClient, 'subscribe'>;
  wsId: string;
  /** Handles one after the other; the next waits until it resolves. */
  onSnapshot(snapshot: WorkstreamSnapshot): Promise<void>;
  onEvent(event: StreamEvent): Promise<void>;
  /** Nothing follows. */
  onError(error: unknown): void;
}

type Arrived = { cursor: string; snapshot: WorkstreamSnapshot } | { cursor: string; event: StreamEvent };

/** With more that an editor has not taken yet, the daemon is asked to keep the rest. */
const MOST_WAITING = 500;

/**
 * The events of a workstream, handled in order and at the pace of a slow editor. While too many wait, the subscription is
 * closed; it continues after the last one, so memory is bounded and nothing is lost.
 */
export class EventFlow {
  readonly #deps: EventFlowDeps;
  #subscription: { close(): void } | undefined;
  #waiting: Arrived[] = [];
  #isHandling = false;
  #isClosed = false;
  /** Of the last snapshot or event that arrived. */
  #arrived: string | undefined;
  #offset = -1;
  #watchers: { offset: number; reached(): void }[] = [];

  constructor(deps: EventFlowDeps) {
    this.#deps = deps;
  }

  open(): void {
    const { client, wsId, onError } = this.#deps;
    this.#subscription = client.subscribe(wsId, {
      after: this.#arrived,
      onSnapshot: (snapshot, cursor) => this.#take({ snapshot, cursor }),
      onEvent: (event, cursor) => this.#take({ event, cursor }),
      onError,
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#subscription?.close();
    for (const { reached } of this.#watchers.splice(0)) reached();
  }

  /** Resolves when everything up to the cursor has been handled. */
  reached(cursor: string): Promise<void> {
    const { offset = 0 } = parseCursor(cursor) ?? {};
    if (this.#isClosed || this.#offset >= offset) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#watchers.push({ offset, reached: resolve });
    return promise;
  }

  #take(arrived: Arrived): void {
    if (this.#isClosed || this.#subscription === undefined) return;
    this.#arrived = arrived.cursor;
    this.#waiting.push(arrived);
    if (this.#waiting.length > MOST_WAITING) {
      this.#subscription.close();
      this.#subscription = undefined;
    }
    if (!this.#isHandling) void this.#handleAll();
  }

  async #handleAll(): Promise<void> {
    this.#isHandling = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#handle(next);
      this.#pass(next.cursor);
    }
    this.#isHandling = false;
    if (this.#subscription === undefined && !this.#isClosed) this.open();
  }

  async #handle(arrived: Arrived): Promise<void> {
    try {
      await ('snapshot' in arrived ? this.#deps.onSnapshot(arrived.snapshot) : this.#deps.onEvent(arrived.event));
    } catch (error) {
      if (!this.#isClosed) this.#deps.onError(error);
    }
  }

  #pass(cursor: string): void {
    this.#offset = parseCursor(cursor)?.offset ?? this.#offset;
    const [reached, others] = [
      this.#watchers.filter(({ offset }) => offset <= this.#offset),
      this.#watchers.filter(({ offset }) => offset > this.#offset),
    ];
    this.#watchers = others;
    for (const watcher of reached) watcher.reached();
  }
}
