import { CLOSINGS } from '../closings.ts';
import type { HelloOk } from '../connect.ts';
import type { GatewayEventName, GatewayEventPayload } from '../events/gateway.ts';
import type { EventFrame } from '../frames.ts';
import type { MethodName, ParamsInput, Result } from '../index.ts';
import { LIMITS } from '../limits.ts';
import { createBackoff } from './backoff.ts';
import { Connection } from './connection.ts';
import { type CallOptions, PendingCalls } from './pending-calls.ts';
import { ConnectionLostError, NotConnectedError, RequestError } from './request-error.ts';
import type { SocketConstructor } from './socket.ts';
import { type Subscription, type SubscriptionOptions, Subscriptions } from './subscriptions.ts';
import { systemTimers, type Timers } from './timers.ts';

/** The state of a client’s connection; `waiting`: it will reconnect automatically. */
export type ConnectionStatus =
  | { kind: 'connecting' }
  | { kind: 'open'; hello: HelloOk }
  | { kind: 'waiting'; retryInMs: number; error: Error }
  /** Final: closed by the caller, or by the daemon (see `error.code` or `error.closing`). */
  | { kind: 'closed'; error: Error | undefined };

/** The gateway's address, who connects, and what happens when the connection is lost. */
export interface GatewayClientOptions {
  url: string;
  token?: string | undefined;
  client: Omit<ParamsInput<'connect'>['client'], 'platform'> & { platform?: string };
  /** The capabilities of a node, for people. */
  caps?: string[];
  /** False: the first lost connection closes the client, for one-shot commands. */
  reconnect?: boolean;
  WebSocket?: SocketConstructor;
  timers?: Timers;
  onStatus?(status: ConnectionStatus): void;
  /** Broadcast events were missed, and they are not replayed: fetch `health` and `system-presence` again. */
  onGap?(gap: { expected: number; received: number }): void;
}

/** The callable methods; the client calls `connect` itself. */
export type CallableMethod = Exclude<MethodName, 'connect'>;
/** `params` may be omitted if the method takes none. */
type CallArguments<M extends CallableMethod> =
  undefined extends ParamsInput<M>
    ? [params?: ParamsInput<M>, options?: CallOptions]
    : [params: ParamsInput<M>, options?: CallOptions];

/** A connection to the daemon that reconnects automatically. Names, params and results come from the protocol's rows. */
export interface GatewayClient {
  /** Starts to connect. Resolves with the first hello-ok; rejects if the client is refused or closed. */
  connect(): Promise<HelloOk>;
  /** Calls a method. While disconnected, the call waits for a connection until its timeout. */
  call<M extends CallableMethod>(method: M, ...args: CallArguments<M>): Promise<Result<M>>;
  /** Adds a listener. Returns a function that removes it. */
  on<E extends GatewayEventName>(event: E, listener: (payload: GatewayEventPayload<E>) => void): () => void;
  subscribe(wsId: string, options: SubscriptionOptions): Subscription;
  /** Reconnects now instead of waiting for the backoff. */
  retryNow(): void;
  close(): void;
}

/** Creates a client of the gateway protocol. It opens no socket before `connect`, and then reconnects automatically. */
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
    this.#first.promise.catch(() => undefined); // without a call of connect(), onStatus reports it
  }

  connect(): Promise<HelloOk> {
    if (this.#connection === undefined && this.#cancelRetry === undefined && !this.#closed) {
      try {
        this.#open();
      } catch (error) {
        this.#shut(error instanceof Error ? error : new Error(String(error))); // invalid URL
      }
    }
    return this.#first.promise;
  }

  async call<M extends CallableMethod>(method: M, ...args: CallArguments<M>): Promise<Result<M>> {
    const [params, options = {}] = args;
    if (this.#closed) throw this.#closed.error ?? new ConnectionLostError('the client is closed');
    if (options.atOnce && !this.#isConnected()) throw new NotConnectedError('there is no connection to the gateway');
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
    if (error !== undefined) queueMicrotask(() => this.#subscriptions.end(error)); // after this call has returned
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

  #isConnected(): boolean {
    return this.#hello !== undefined && this.#connection !== undefined && !this.#connection.isClosing;
  }

  #flush(): void {
    const { hello, connection } = { hello: this.#hello, connection: this.#connection };
    if (hello === undefined || connection === undefined || connection.isClosing) return;
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
 * The error if another attempt would be refused, too. Without a token the browser's cookie was used, and a login in another
 * tab may have replaced it, so the next handshake has to decide.
 */
function findRefusal(error: ConnectionLostError | RequestError, token: string | undefined): Error | undefined {
  if (error instanceof RequestError) return error.retryable ? undefined : error;
  if (error.closing === undefined) return undefined;
  const { retry } = CLOSINGS[error.closing];
  if (retry === 'anyone' || (retry === 'cookie' && token === undefined)) return undefined;
  if (error.closing !== 'unauthorized') return error;
  return new RequestError('UNAUTHORIZED', 'unauthorized: the token was revoked or replaced, or has expired');
}

/** Reports an exception of a listener as an uncaught error, but only after the client's state is consistent. */
function tell(run: () => void): void {
  try {
    run();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** A frame over the announced limit would end the connection, so the client refuses the call. */
function checkSize(text: string, maxBytes: number): void {
  if (text.length * 3 <= maxBytes) return; // UTF-8 takes at most three bytes for a UTF-16 unit
  const bytes = new TextEncoder().encode(text).byteLength;
  if (bytes > maxBytes) throw new RequestError('PAYLOAD_TOO_LARGE', `the call takes ${bytes} of ${maxBytes} bytes`);
}
