import type { ClosingName } from '../../protocol/closings.ts';
import type { GatewayEventPayload } from '../../protocol/events/gateway.ts';
import type { MethodName, Params, ParamsInput, Result } from '../../protocol/index.ts';
import type { AuditDetail } from './audit/audit-record.ts';
import type { Principal } from './auth/principal.ts';
import type { Watched } from './sharing/perception.ts';
import type { Statement } from './store/store.ts';

/** What a handler knows about the caller, independent of the transport. */
export interface Call {
  /** Absent on `public` methods called without a credential. */
  principal: Principal | undefined;
  /** Aborts when the caller disconnects. Accepted work continues regardless. */
  signal: AbortSignal;
  /** The client's address, for limits on failed logins. */
  address: string;
  /** Names the request of this call in the log; over WebSocket, the connection and the frame name it. */
  requestId?: string;
  connId?: string;
  frameId?: string;
  /** The span in the caller's trace that caused the call, as the caller sent it. */
  traceparent?: string | undefined;
  /** Sends the first of two answers, for methods whose row has `interim`. */
  interim(payload: unknown): void;
  /** On a repeat of an idempotent call that used `keep`: the kept value. */
  kept: unknown;
  /**
   * Statements that store `value` as the answer for this call's idempotency key; the handler commits them with its
   * effect. Empty when the call has no key.
   */
  keep(value: unknown): Statement[];
  /**
   * Statements that record this call in the audit trail; the handler commits them with its effect. Empty for methods that
   * are not recorded. A handler that does not ask for them is recorded after it succeeded.
   */
  audited(detail?: AuditDetail): Statement[];
  /**
   * Makes another call for the same caller, with all that its row asks for: rights, a fresh proof and a record. For
   * methods that do what another one does, such as slash commands.
   */
  perform<M extends ServedMethod>(method: M, params: ParamsInput<M>): Promise<unknown>;
  /** Marks the answer as valid only now: a repeat of the key is executed again instead of getting the stored answer. */
  momentary(): void;
  /** The connection of the call; absent over HTTP. */
  link?: ClientLink | undefined;
  /** The connection's subscriptions, for methods that change them; absent over HTTP. */
  subscriptions: Subscriptions | undefined;
}

/** How a call is named in the log. Over WebSocket, the connection and the frame name it. */
export function loggedAs(
  { requestId, connId, ...call }: Pick<Call, 'requestId' | 'connId' | 'frameId'>,
  frame = call.frameId,
) {
  if (requestId !== undefined) return { requestId };
  const frameId = frame?.slice(0, 64); // a client chooses it
  return { requestId: `${connId}/${frameId}`, connId, frameId };
}

/** Unnumbered events for a single connection. */
export type DirectEvent = 'node.pair.token' | 'node.pair.resolved' | 'node.invoke.request' | 'node.invoke.cancel';

/** What a transport knows about a call; dispatch adds the rest of `Call`. */
export type Caller = Omit<Call, 'kept' | 'keep' | 'momentary' | 'audited' | 'perform'>;

/** A connection, for code that sends to it alone. */
export interface ClientLink {
  send<E extends DirectEvent>(event: E, payload: GatewayEventPayload<E>): void;
  /** Closes it after sending what is queued. */
  close(closing: ClosingName): void;
  /** Whether the client answers a ping. A connection without an answer ends. */
  isAlive(): Promise<boolean>;
}

/** Changes that `events.subscribe` may make to its connection. */
export interface Subscriptions {
  /**
   * Follows a workstream's log after `offset`, replacing an earlier subscription. Events start after the answer was
   * sent, if the caller still perceives the workstream then, and it was not closed since (see `FollowOptions`).
   */
  add(about: Watched, offset: number, since?: number): void;
  /** False when there was no subscription. */
  remove(wsId: string): boolean;
}

export type Handler<M extends MethodName> = (params: Params<M>, call: Call) => Result<M> | Promise<Result<M>>;
/** All methods except `connect`, which the handshake answers. */
export type ServedMethod = Exclude<MethodName, 'connect'>;
export type Handlers<M extends ServedMethod = ServedMethod> = { readonly [K in M]: Handler<K> };

/** On a repeat of an idempotent call: the value that the handler passed to `keep`. */
export const keptOf = <T>({ kept }: Pick<Call, 'kept'>): T | undefined => kept as T | undefined; // only handlers keep
