import type { ClosingName } from '../../protocol/closings.ts';
import type { GatewayEventPayload } from '../../protocol/events/gateway.ts';
import type { MethodName, Params, Result } from '../../protocol/index.ts';
import type { Principal } from './auth/principal.ts';
import type { Statement } from './store/store.ts';

/** What a handler may know about who calls it and when to stop. Nothing of the transport. */
export interface Call {
  /** Absent on `public` methods called without a credential. */
  principal: Principal | undefined;
  /** Aborts when the caller is gone. Work that was accepted goes on regardless. */
  signal: AbortSignal;
  /** Where the call came from, for limits on failed logins. */
  address: string;
  /** Sends the first of two answers (methods whose row has `interim`). */
  interim(payload: unknown): void;
  /** Set on a repeat of an idempotent call that `keep`s its first answer: what it kept. */
  kept: unknown;
  /**
   * Statements that store `value` as the answer to this call's idempotency key; the handler commits them with the
   * effect. Empty when the call has no key.
   */
  keep(value: unknown): Statement[];
  /** The answer is about this moment: a repeat of the key is asked anew instead of being told it again. */
  momentary(): void;
  /** The connection that the call came by; absent over HTTP. */
  link?: ClientLink | undefined;
  /** The connection's subscriptions, for the methods that change them; absent over HTTP. */
  subscriptions: Subscriptions | undefined;
}

/** Events for one connection, outside of any numbering. */
export type DirectEvent = 'node.pair.token' | 'node.pair.resolved' | 'node.invoke.request' | 'node.invoke.cancel';

/** A connection as those know it who have something to tell it alone. */
export interface ClientLink {
  send<E extends DirectEvent>(event: E, payload: GatewayEventPayload<E>): void;
  /** Ends it with what was sent so far. */
  close(closing: ClosingName): void;
}

/** What `events.subscribe` may do to the connection it came by. */
export interface Subscriptions {
  /** Follows a workstream's log after `offset`; events flow once the answer has been sent. Replaces an earlier one. */
  add(wsId: string, offset: number): void;
  /** False when there was none. */
  remove(wsId: string): boolean;
}

export type Handler<M extends MethodName> = (params: Params<M>, call: Call) => Result<M> | Promise<Result<M>>;
/** `connect` is answered by the handshake, everything else by a handler. */
export type ServedMethod = Exclude<MethodName, 'connect'>;
export type Handlers<M extends ServedMethod = ServedMethod> = { readonly [K in M]: Handler<K> };

/** On a repeat of an idempotent call: what the handler itself gave to `keep`. */
export const keptOf = <T>({ kept }: Pick<Call, 'kept'>): T | undefined => kept as T | undefined; // only handlers keep
