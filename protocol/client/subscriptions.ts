import { parseCursor } from '../cursor.ts';
import type { GatewayEventPayload } from '../events/gateway.ts';
import type { Params, Result } from '../index.ts';
import type { WorkstreamSnapshot } from '../methods/workstream.ts';
import type { StreamEvent } from '../stream-events.ts';
import { createBackoff } from './backoff.ts';
import { ConnectionLostError, RequestError } from './request-error.ts';
import type { Timers } from './timers.ts';

type ResetReason = NonNullable<Result<'events.subscribe'>['reason']>;

/** Where a subscription begins and who hears of what comes. */
export interface SubscriptionOptions {
  /** Continue after this cursor; without it the subscription starts with a snapshot. */
  after?: string | undefined;
  /** Replace what you show: the state at `cursor`. At the start, and whenever exact resumption was impossible. */
  onSnapshot(snapshot: WorkstreamSnapshot, cursor: string): void;
  /** Each event exactly once and in order, over any number of reconnects. */
  onEvent(event: StreamEvent, cursor: string): void;
  /** Resumption was impossible; the snapshot that follows replaces what you have. */
  onReset?: ((reason: ResetReason | undefined) => void) | undefined;
  /** The daemon refused the subscription (an unknown workstream, say), or the client has ended for good and not by its `close`. Nothing follows. */
  onError?: ((error: unknown) => void) | undefined;
}

/** A workstream that is followed, over any number of reconnects, until `close`. */
export interface Subscription {
  close(): void;
  /** The last event delivered, or where the snapshot was taken. */
  readonly cursor: string | undefined;
}

interface Live {
  wsId: string;
  options: SubscriptionOptions;
  cursor: string | undefined;
  /** Events count only between an answered subscribe and the next one. */
  following: boolean;
  /** Which subscribe call is the current one; answers to earlier ones are void. */
  attempt: number;
  backoff: ReturnType<typeof createBackoff>;
  cancelRetry(): void;
}

interface Port {
  timers: Timers;
  connected(): boolean;
  /** `onAnswer` has to be told before the events that come behind the answer, perhaps in the same packet. */
  subscribe(
    params: Params<'events.subscribe'>,
    onAnswer: (result: Result<'events.subscribe'>) => void,
  ): Promise<unknown>;
  unsubscribe(params: Params<'events.unsubscribe'>): Promise<unknown>;
  /** Runs a listener so that what it throws cannot harm the client. */
  tell(run: () => void): void;
}

/** The workstreams a client follows: one subscription each, resumed by cursor whenever a connection opens. */
export class Subscriptions {
  readonly #port: Port;
  readonly #live = new Map<string, Live>();

  constructor(port: Port) {
    this.#port = port;
  }

  /** Replaces an earlier subscription to the same workstream, as the daemon does. */
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

  /** Ends every subscription: no connection will come that could resume it. */
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
      this.#start(live); // another log: only a new subscription can tell what it holds
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
    // A failure changes nothing: events of a workstream nobody follows are dropped here.
    this.#port.unsubscribe({ wsId }).catch(() => undefined);
  }
}
