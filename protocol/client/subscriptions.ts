import { parseCursor } from '../cursor.ts';
import type { GatewayEventPayload } from '../events/gateway.ts';
import type { Params, Result } from '../index.ts';
import type { WorkstreamSnapshot } from '../methods/workstream.ts';
import type { StreamEvent } from '../stream-events.ts';
import { createBackoff } from './backoff.ts';
import { Pace } from './pace.ts';
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
  /** Begins at once, before others that wait for their turn: with very many subscriptions, not all begin at the same time. */
  hurry(): void;
  /** The cursor of the last delivered event, or of the snapshot. */
  readonly cursor: string | undefined;
}

interface Live {
  wsId: string;
  options: SubscriptionOptions;
  cursor: string | undefined;
  /** False from one subscribe until its answer; events are ignored meanwhile. */
  following: boolean;
  /** It has not been asked for yet. */
  isInLine: boolean;
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
  readonly #pace: Pace;

  constructor(port: Port) {
    this.#port = port;
    this.#pace = new Pace(port.timers);
  }

  /** Adds a subscription. Replaces an earlier one to the same workstream, as the daemon does. */
  add(wsId: string, options: SubscriptionOptions): Subscription {
    this.#live.get(wsId)?.cancelRetry();
    const live: Live = {
      wsId,
      options,
      cursor: options.after,
      following: false,
      isInLine: false,
      attempt: 0,
      backoff: createBackoff(this.#port.timers),
      cancelRetry: () => undefined,
    };
    this.#live.set(wsId, live);
    if (this.#port.connected()) this.#begin(live);
    return {
      close: () => this.#remove(live),
      hurry: () => this.#hurry(live),
      get cursor() {
        return live.cursor;
      },
    };
  }

  #hurry(live: Live): void {
    const waits = live.isInLine && this.#live.get(live.wsId) === live;
    if (waits && this.#port.connected()) this.#start(live);
  }

  onConnected(): void {
    this.#pace.reset();
    for (const live of this.#live.values()) this.#begin(live);
  }

  onDisconnected(): void {
    for (const live of this.#live.values()) {
      live.following = false;
      live.isInLine = false;
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
      this.#begin(live); // another log: subscribe again
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

  /** In its turn: somebody with many workstreams would use up all that a connection may ask. */
  #begin(live: Live): void {
    live.following = false;
    live.cancelRetry();
    live.isInLine = true; // unless it begins at once
    live.cancelRetry = this.#pace.add(() => this.#start(live));
  }

  #start(live: Live): void {
    live.isInLine = false;
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
      if (error.retryAfterMs === undefined) {
        live.cancelRetry = this.#port.timers.after(live.backoff.nextMs(), () => this.#begin(live));
        return;
      }
      this.#pace.hold(error.retryAfterMs); // otherwise all that were refused would ask again at the same moment
      this.#begin(live);
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
