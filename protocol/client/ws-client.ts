import { CLOSINGS } from '../closings.ts';
import type { GatewayEventName, GatewayEventPayload } from '../events/gateway.ts';
import type { EventFrame } from '../frames.ts';
import type { MethodName, ParamsInput, Result } from '../index.ts';
import { LIMITS } from '../limits.ts';
import type { HelloOk } from '../methods/connect.ts';
import { createBackoff } from './backoff.ts';
import { Connection } from './connection.ts';
import { type CallOptions, PendingCalls } from './pending-calls.ts';
import { ConnectionLostError, RequestError } from './request-error.ts';
import type { SocketConstructor } from './socket.ts';
import { type Subscription, type SubscriptionOptions, Subscriptions } from './subscriptions.ts';
import { systemTimers, type Timers } from './timers.ts';

/** The life of a client’s connection: `waiting` means that it will try again by itself. */
export type ConnectionStatus =
  | { kind: 'connecting' }
  | { kind: 'open'; hello: HelloOk }
  | { kind: 'waiting'; retryInMs: number; error: Error }
  /** For good: closed by the caller, or by the daemon (`error.code` or `error.closing` says why). */
  | { kind: 'closed'; error: Error | undefined };

/** Where the gateway is, who connects, and what happens when the connection is lost. */
export interface GatewayClientOptions {
  url: string;
  token?: string | undefined;
  client: Omit<ParamsInput<'connect'>['client'], 'platform'> & { platform?: string };
  /** What a node can do, for people. */
  caps?: string[];
  /** False: the first lost connection closes the client, as a one-shot command wants. */
  reconnect?: boolean;
  WebSocket?: SocketConstructor;
  timers?: Timers;
  onStatus?(status: ConnectionStatus): void;
  /** Broadcast events were missed (they are not replayed): fetch `health` and `system-presence` anew. */
  onGap?(gap: { expected: number; received: number }): void;
}

/** The callable methods; `connect` is the client's own. */
export type CallableMethod = Exclude<MethodName, 'connect'>;
/** `params` may be left out where the row takes none. */
type CallArguments<M extends CallableMethod> =
  undefined extends ParamsInput<M>
    ? [params?: ParamsInput<M>, options?: CallOptions]
    : [params: ParamsInput<M>, options?: CallOptions];

/** A connection to the daemon that heals itself. Names, params and results come from the protocol's rows. */
export interface GatewayClient {
  /** Starts connecting; resolves with the first hello-ok, rejects when refused or closed. */
  connect(): Promise<HelloOk>;
  /** A call made while disconnected waits for the connection, within its own deadline. */
  call<M extends CallableMethod>(method: M, ...args: CallArguments<M>): Promise<Result<M>>;
  /** The answer removes the listener. */
  on<E extends GatewayEventName>(event: E, listener: (payload: GatewayEventPayload<E>) => void): () => void;
  subscribe(wsId: string, options: SubscriptionOptions): Subscription;
  /** Ends a wait between attempts. */
  retryNow(): void;
  close(): void;
}

/** A client of the gateway protocol. It opens nothing before `connect`, and reconnects by itself once it was open. */
export const createGatewayClient = (options: GatewayClientOptions): GatewayClient => new Client(options);

type Listener = (payload: never) => void;

class Client implements GatewayClient {
  readonly #options: GatewayClientOptions;
  readonly #timers: Timers;
  readonly #calls: PendingCalls;
  readonly #subscriptions: Subscriptions;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #first = Promise.withResolvers<HelloOk>();
  readonly #backoff: ReturnType<typeof createBackoff>;
  #connection: Connection | undefined;
  #hello: HelloOk | undefined;
  #lastSeq: number | undefined;
  #cancelRetry: (() => void) | undefined;
  #closed: { error: Error | undefined } | undefined;

  constructor(options: GatewayClientOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#backoff = createBackoff(this.#timers);
    this.#calls = new PendingCalls(this.#timers);
    this.#subscriptions = new Subscriptions({
      timers: this.#timers,
      connected: () => this.#hello !== undefined,
      subscribe: (params, onAnswer) =>
        this.call('events.subscribe', params, {
          onAnswer: (payload) => onAnswer(payload as Result<'events.subscribe'>), // by the method's contract
        }),
      unsubscribe: (params) => this.call('events.unsubscribe', params),
      tell,
    });
    this.#first.promise.catch(() => undefined); // who never calls connect() learns it from onStatus
  }

  connect(): Promise<HelloOk> {
    if (this.#connection === undefined && this.#cancelRetry === undefined && !this.#closed) {
      try {
        this.#open();
      } catch (error) {
        this.#shut(error instanceof Error ? error : new Error(String(error))); // the URL is none
      }
    }
    return this.#first.promise;
  }

  async call<M extends CallableMethod>(method: M, ...args: CallArguments<M>): Promise<Result<M>> {
    const [params, options = {}] = args;
    if (this.#closed) throw this.#closed.error ?? new ConnectionLostError('the client is closed');
    const answer = this.#calls.add(method, params, options);
    this.#flush();
    return (await answer) as Result<M>; // by the method's contract; the daemon tests its results against it
  }

  on<E extends GatewayEventName>(event: E, listener: (payload: GatewayEventPayload<E>) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  subscribe(wsId: string, options: SubscriptionOptions): Subscription {
    const subscription = this.#subscriptions.add(wsId, options);
    const error = this.#closed?.error;
    if (error !== undefined) queueMicrotask(() => this.#subscriptions.end(error)); // when the caller has its answer
    return subscription;
  }

  retryNow(): void {
    if (this.#cancelRetry === undefined) return;
    this.#cancelRetry();
    this.#open();
  }

  close(): void {
    this.#shut(undefined);
  }

  #open(): void {
    const { url, token, client, caps, WebSocket = globalThis.WebSocket } = this.#options;
    this.#cancelRetry = undefined;
    this.#lastSeq = undefined;
    this.#status({ kind: 'connecting' });
    this.#connection = new Connection({
      url,
      WebSocket,
      timers: this.#timers,
      params: {
        minProtocol: LIMITS.protocolVersion,
        maxProtocol: LIMITS.protocolVersion,
        client: { platform: 'document' in globalThis ? 'web' : 'node', ...client },
        ...(caps === undefined ? {} : { caps }),
        ...(token === undefined ? {} : { auth: { token } }),
      },
      onHello: (hello) => this.#onHello(hello),
      onResponse: (frame) => this.#calls.onResponse(frame),
      onEvent: (frame) => this.#onEvent(frame),
      onEnd: (error) => this.#onEnd(error),
    });
  }

  #onHello(hello: HelloOk): void {
    this.#hello = hello;
    this.#backoff.reset();
    this.#first.resolve(hello);
    this.#status({ kind: 'open', hello });
    this.#subscriptions.onConnected();
    this.#flush();
  }

  #onEnd(error: ConnectionLostError | RequestError): void {
    this.#connection = undefined;
    this.#hello = undefined;
    this.#subscriptions.onDisconnected();
    this.#calls.fail(error, { all: false });
    const final = this.#options.reconnect === false ? error : findRefusal(error, this.#options.token);
    if (final !== undefined) {
      this.#shut(final);
      return;
    }
    const backoffMs = this.#backoff.nextMs();
    const retryInMs = error instanceof RequestError ? (error.retryAfterMs ?? backoffMs) : backoffMs;
    this.#cancelRetry = this.#timers.after(retryInMs, () => this.#open());
    this.#status({ kind: 'waiting', retryInMs, error });
  }

  #onEvent({ event, payload, seq }: EventFrame): void {
    if (seq !== undefined) {
      const expected = (this.#lastSeq ?? seq - 1) + 1;
      this.#lastSeq = seq;
      if (seq > expected) tell(() => this.#options.onGap?.({ expected, received: seq }));
    }
    if (event === 'workstream') this.#subscriptions.onEvent(payload as GatewayEventPayload<'workstream'>);
    // The payload fits the listener by the event's row.
    for (const listener of this.#listeners.get(event) ?? []) tell(() => listener(payload as never));
  }

  #flush(): void {
    const { hello, connection } = { hello: this.#hello, connection: this.#connection };
    if (hello === undefined || connection === undefined) return;
    this.#calls.eachUnsent((id, method, params) => {
      const frame = { type: 'req', id, method, ...(params === undefined ? {} : { params }) } as const;
      checkSize(JSON.stringify(frame), hello.policy.maxPayload);
      connection.send(frame);
    });
  }

  #shut(error: Error | undefined): void {
    if (this.#closed) return;
    this.#closed = { error };
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#connection?.close();
    this.#connection = undefined;
    this.#hello = undefined;
    this.#subscriptions.onDisconnected();
    const reason = error ?? new ConnectionLostError('the client is closed');
    this.#calls.fail(reason, { all: true });
    this.#first.reject(reason);
    if (error !== undefined) this.#subscriptions.end(error);
    this.#status({ kind: 'closed', error });
  }

  #status(status: ConnectionStatus): void {
    tell(() => this.#options.onStatus?.(status));
  }
}

/**
 * What another attempt would only hear again. Without a token it is the browser's cookie that counted, and a login in
 * another tab may have brought a new one: only the next handshake can tell.
 */
function findRefusal(error: ConnectionLostError | RequestError, token: string | undefined): Error | undefined {
  if (error instanceof RequestError) return error.retryable ? undefined : error;
  if (error.closing === undefined) return undefined;
  const { retry } = CLOSINGS[error.closing];
  if (retry === 'anyone' || (retry === 'cookie' && token === undefined)) return undefined;
  if (error.closing !== 'unauthorized') return error;
  return new RequestError('UNAUTHORIZED', 'unauthorized: the token was revoked or replaced, or has expired');
}

/** A listener's own mistake is reported like any uncaught error, but later, when the client's state is whole. */
function tell(run: () => void): void {
  try {
    run();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** A frame over the announced limit would cost the connection; refused here it costs only the call. */
function checkSize(text: string, maxBytes: number): void {
  if (text.length * 3 <= maxBytes) return; // UTF-8 takes at most three bytes for a UTF-16 unit
  const bytes = new TextEncoder().encode(text).byteLength;
  if (bytes > maxBytes) throw new RequestError('PAYLOAD_TOO_LARGE', `the call takes ${bytes} of ${maxBytes} bytes`);
}
