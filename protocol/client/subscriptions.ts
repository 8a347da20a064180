import { parseCursor } from '../cursor.ts';
import type { GatewayEventPayload } from '../events/gateway.ts';
import type { Params, Result } from '../index.ts';
import type { WorkstreamSnapshot } from '../methods/workstream.ts';
import type { StreamEvent } from '../stream-events.ts';
import { createBackoff } from './backoff.ts';
import { ConnectionLostError, RequestError } from './request-error.ts';
import type { Timers } from './timers.ts';

type ResetReason = NonNullable<Result<'events.subscribe'>['reason']>;

/** Where a subscription starts, and its listeners. */
export interface SubscriptionOptions {
  /** Continue after this cursor; without it the subscription starts with a snapshot. */
  after?: string | undefined;
  /** Receives the state at `cursor`, at the start and whenever exact resumption was impossible. Replace what you show. */
  onSnapshot(snapshot: WorkstreamSnapshot, cursor: string): void;
  /** Receives each event exactly once and in order, across reconnects. */
  onEvent(event: StreamEvent, cursor: string): void;
  /** Resumption was impossible; the snapshot that follows replaces what you have. */
  onReset?: ((reason: ResetReason | undefined) => void) | undefined;
  /** The daemon refused the subscription, as for an unknown workstream, or the connection ended for good. Nothing follows. */
  onError?: ((error: unknown) => void) | undefined;
}

/** Follows a workstream across reconnects, until `close`. */
export interface Subscription {
  close(): void;
  /** The cursor of the last delivered event, or of the snapshot. */
  readonly cursor: string | undefined;
}

interface Live {
  wsId: string;
  options: SubscriptionOptions;
  cursor: string | undefined;
  /** False from one subscribe until its answer; events are ignored meanwhile. */
  following: boolean;
  /** The number of the current subscribe call; answers to earlier ones are ignored. */
  attempt: number;
  backoff: ReturnType<typeof createBackoff>;
  cancelRetry(): void;
}

interface Port {
  timers: Timers;
  connected(): boolean;
  /** Has to call `onAnswer` before it handles the events after the answer, which may arrive in the same packet. */
  subscribe(
    params: Params<'events.subscribe'>,
    onAnswer: (result: Result<'events.subscribe'>) => void,
  ): Promise<unknown>;
  unsubscribe(params: Params<'events.unsubscribe'>): Promise<unknown>;
  /** Runs a listener so that its exceptions cannot harm the client. */
  tell(run: () => void): void;
}

/** The subscriptions of a client, one per workstream, resumed by cursor whenever a connection opens. */
export class Subscriptions {
  readonly #port: Port;
  readonly #live = new Map<string, Live>();

  constructor(port: Port) {
    this.#port = port;
  }

  /** Adds a subscription. Replaces an earlier one to the same workstream, as the daemon does. */
  add(wsId: string, options: SubscriptionOptions): Subscription {
    this.#live.get(wsId)?.cancelRetry();
    const live: Live = {
      wsId,
      options,
      cursor: options.after,
      following: false,
      attempt: 0,
      backoff: createBackoff(this.#port.timers),
      cancelRetry: () => undefined,
    };
    this.#live.set(wsId, live);
    if (this.#port.connected()) this.#start(live);
    return {
      close: () => this.#remove(live),
      get cursor() {
        return live.cursor;
      },
    };
  }

  onConnected(): void {
    for (const live of this.#live.values()) this.#start(live);
  }

  onDisconnected(): void {
    for (const live of this.#live.values()) {
      live.following = false;
      live.attempt += 1;
      live.cancelRetry();
    }
  }

  /** Ends every subscription, because no further connection will resume them. */
  end(error: Error): void {
    const ended = [...this.#live.values()];
    this.#live.clear();
    for (const { options } of ended) this.#port.tell(() => options.onError?.(error));
  }

  onEvent({ wsId, cursor, event }: GatewayEventPayload<'workstream'>): void {
    const live = this.#live.get(wsId);
    if (!live?.following) return;
    const seen = parseCursor(live.cursor);
    const next = parseCursor(cursor);
    if (seen?.epoch !== next?.epoch) {
      this.#start(live); // another log: subscribe again
      return;
    }
    if (next === undefined || (seen !== undefined && next.offset <= seen.offset)) return;
    live.cursor = cursor;
    this.#port.tell(() => live.options.onEvent(event, cursor));
  }

  #remove(live: Live): void {
    if (this.#live.get(live.wsId) !== live) return;
    this.#live.delete(live.wsId);
    live.cancelRetry();
    if (live.following) this.#unsubscribe(live);
  }

  #start(live: Live): void {
    live.following = false;
    live.attempt += 1;
    live.cancelRetry();
    const { attempt, wsId, cursor } = live;
    const isCurrent = () => live.attempt === attempt && this.#live.get(wsId) === live;
    const onAnswer = (result: Result<'events.subscribe'>) => {
      if (isCurrent()) this.#onSubscribed(live, result);
      else if (!this.#live.has(wsId) && this.#port.connected()) this.#unsubscribe(live);
    };
    const params = cursor === undefined ? { wsId } : { wsId, after: cursor };
    this.#port.subscribe(params, onAnswer).catch((error: unknown) => {
      if (isCurrent()) this.#onRefused(live, error);
    });
  }

  #onSubscribed(live: Live, { cursor, recovered, reason, snapshot }: Result<'events.subscribe'>): void {
    const { options } = live;
    const resumed = live.cursor !== undefined;
    live.following = true;
    live.backoff.reset();
    if (!resumed || !recovered) live.cursor = cursor;
    if (resumed && !recovered) this.#port.tell(() => options.onReset?.(reason));
    if (snapshot !== undefined) this.#port.tell(() => options.onSnapshot(snapshot, cursor));
  }

  #onRefused(live: Live, error: unknown): void {
    if (error instanceof ConnectionLostError) return; // the next connection subscribes again
    if (error instanceof RequestError && error.retryable) {
      const waitMs = error.retryAfterMs ?? live.backoff.nextMs();
      live.cancelRetry = this.#port.timers.after(waitMs, () => this.#start(live));
      return;
    }
    this.#live.delete(live.wsId);
    this.#port.tell(() => live.options.onError?.(error));
  }

  #unsubscribe({ wsId }: Live): void {
    // A failure does not matter: events of a workstream without a subscription are ignored.
    this.#port.unsubscribe({ wsId }).catch(() => undefined);
  }
}
