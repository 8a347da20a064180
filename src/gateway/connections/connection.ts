import { CLOSINGS, type ClosingName } from '../../../protocol/closings.ts';
import type { ConnectParams } from '../../../protocol/connect.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Defer } from '../../timing/end-of-turn.ts';
import { whenThere } from '../../timing/when-there.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Principal } from '../auth/principal.ts';
import { RightsChanged } from '../auth/rights-changed.ts';
import type { ClientLink } from '../call.ts';
import type { Dispatch } from '../dispatch.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { NodeDoor } from '../nodes/node-door.ts';
import { mayDecide } from '../rights.ts';
import type { Broadcast, Membership, Receiver } from './broadcast.ts';
import type { Deadlines } from './deadlines.ts';
import { type HandshakeOutcome, shakeHands } from './handshake.ts';
import { hearingOf } from './hearing.ts';
import { type Hello, maxPayloadOf } from './hello.ts';
import { type JoinFrames, Outbox } from './outbox.ts';
import { Pulse } from './pulse.ts';
import { createRequests, type Requests } from './requests.ts';
import { encodeAnswerOf, encodeRefusal } from './response-frame.ts';
import type { CredentialHolder, Revocations } from './revocations.ts';
import { type ConnectionSubscriptions, createSubscriptions, type Follow } from './subscriptions.ts';
import type { Upgrade } from './upgrade.ts';
import type { Wire, WireListener } from './wire.ts';

export interface ConnectionDeps {
  dispatch: Dispatch;
  authenticator: Pick<Authenticator, 'authenticate'>;
  hello: Hello;
  presence: {
    connected(connId: string, client: ConnectParams['client'], address: string): void;
    disconnected(connId: string): void;
  };
  nodes: NodeDoor & {
    /** Registers a node, or a machine that wants to become one. Returns a function that unregisters it. */
    join(node: JoiningNode): () => void;
  };
  broadcast: Pick<Broadcast, 'join' | 'encodeDirect'>;
  revocations: Revocations;
  onRateLimited(): void;
  follow: Follow;
  maxBufferedBytes: number;
  live: Pick<LiveSettings, 'inbound'>;
  defer: Defer;
  join: JoinFrames;
  /** The deadlines of handshakes. */
  deadlines: Deadlines;
  clock: Pick<Clock, 'monotonic' | 'sleep'>;
  log: Log;
}

export interface JoiningNode {
  principal: Principal;
  params: ConnectParams;
  address: string;
  link: ClientLink;
}

type Accepted = HandshakeOutcome & { kind: 'accepted' };

/** The error for work that waited for a client that has disconnected. */
const GONE = new GatewayError('UNAVAILABLE', 'the connection was closed');

/** A client before its hello. Forgotten with the hello, because it has the client's token. */
interface Arrival {
  upgrade: Upgrade;
  stopDeadline(): void;
  /** Frames that arrived early: no more than one turn of the event loop reads. */
  early: (string | undefined)[];
}

/**
 * One client from its upgrade to its end. There are many, and most only listen: what a client does not use yet is not created,
 * and the functions that others call are methods, which all connections share.
 */
export class Connection implements WireListener, Receiver, CredentialHolder {
  readonly #wire: Wire;
  readonly #connId: string;
  readonly #address: string;
  readonly #deps: ConnectionDeps;
  readonly #outbox: Outbox;
  #arrival: Arrival | undefined;
  #state: 'greeting' | 'joining' | 'open' | 'closed' = 'greeting';
  /** Reading waits for the outcome of the handshake. */
  #isPaused = false;
  readonly #pulse: Pulse;
  /** Reading is paused for a while, because the client sends far too many requests. */
  #isResting = false;
  #principal: Principal | undefined;
  #membership: Membership | undefined;
  /** Created with the first request, like what it works with. */
  #requests: Requests | undefined;
  #subscriptions: ConnectionSubscriptions | undefined;
  #gone: AbortController | undefined;
  #link: ClientLink | undefined;
  /** What a node holds besides its connection. */
  #leavings: (() => void)[] | undefined;

  constructor(wire: Wire, upgrade: Upgrade, deps: ConnectionDeps) {
    this.#wire = wire;
    this.#connId = upgrade.connId;
    this.#address = upgrade.address;
    this.#deps = deps;
    this.#pulse = new Pulse(wire, this);
    this.#outbox = new Outbox(wire, this, deps);
    this.#arrival = { upgrade, stopDeadline: deps.deadlines.start(() => this.close('no_handshake')), early: [] };
  }

  onMessage(text: string | undefined): void {
    this.#pulse.felt();
    if (this.#state === 'open') this.#onRequest(text);
    if (this.#state === 'joining') this.#arrival?.early.push(text);
    if (this.#state === 'greeting') this.#onGreeting(text);
  }

  onPong(): void {
    this.#pulse.felt();
  }

  onViolation(error: Error): void {
    this.#deps.log.debug({ err: error, connId: this.#connId }, 'a client violated the protocol');
  }

  onClose(): void {
    this.#end();
  }

  tick(): void {
    if (this.#state === 'open') this.#pulse.tick();
  }

  close(closing: ClosingName): void {
    if (this.#state === 'closed') return;
    this.#outbox.flush();
    this.#end();
    const { code, reason } = CLOSINGS[closing];
    this.#wire.close(code, reason);
  }

  terminate(): void {
    this.#end();
    this.#wire.terminate();
  }

  deliver(frame: Buffer, dropIfSlow: boolean): void {
    if (!this.#outbox.isOver()) this.#outbox.push(frame);
    else if (!dropIfSlow) this.close('slow_consumer');
  }

  onRelief(): void {
    this.#pulse.excuse();
    if (!this.#isResting) this.#wire.resume();
    this.#subscriptions?.resume();
  }

  onCredentialEnded({ reason }: AbortSignal): void {
    this.close(reason instanceof RightsChanged ? 'rights_changed' : 'unauthorized');
  }

  #onGreeting(text: string | undefined): void {
    if (!this.#arrival) return;
    this.#state = 'joining';
    const { authenticator, nodes, log } = this.#deps;
    const { credential: upgrade, address, hasOrigin } = this.#arrival.upgrade;
    const outcome = shakeHands(text, { authenticator, nodes, upgrade, address, hasOrigin, log });
    this.#isPaused = outcome instanceof Promise;
    if (this.#isPaused) this.#wire.pause();
    void whenThere(outcome, (decided) => this.#decide(decided));
  }

  #decide(outcome: HandshakeOutcome): void {
    if (this.#state !== 'joining') {
      if (outcome.kind === 'accepted') outcome.leave?.();
      return;
    }
    if (outcome.kind === 'accepted') {
      this.#accept(outcome);
      return;
    }
    if (outcome.answer) this.#outbox.answer(encodeRefusal(outcome.answer.id, outcome.answer.error));
    this.close(outcome.closing);
  }

  #accept(accepted: Accepted): void {
    const { params, principal, leave } = accepted;
    this.#arrival?.upgrade.leaveLobby();
    this.#arrival?.stopDeadline();
    if (leave) this.#leavings = [leave];
    this.#principal = principal;
    const isStranger = principal.source.kind === 'unpaired';
    if (!isStranger) this.#deps.presence.connected(this.#connId, params.client, this.#address);
    this.#deps.revocations.watch(principal.ended, this);
    // Together with the others of this turn: the list of clients changes with each, and is then encoded once for all.
    this.#deps.defer(() => this.#welcome(accepted));
  }

  #welcome({ id, params, principal }: Accepted): void {
    if (this.#state !== 'joining') return;
    const { hello, broadcast, log } = this.#deps;
    this.#state = 'open';
    this.#outbox.answerAtOnce(encodeAnswerOf(id, hello(this.#connId, principal)));
    this.#membership = broadcast.join(this, { hearing: hearingOf(principal), viewer: principal });
    log.debug({ connId: this.#connId, principal: principal.id, client: params.client.name }, 'connected');
    this.#wire.setMaxPayload(maxPayloadOf(principal.source));
    this.#joinNodes(params, principal);
    if (this.#isPaused) this.#wire.resume();
    const early = this.#arrival?.early ?? [];
    this.#arrival = undefined;
    for (const frame of early) this.onMessage(frame);
  }

  #joinNodes(params: ConnectParams, principal: Principal): void {
    const { kind } = principal.source;
    if (kind !== 'node' && kind !== 'unpaired') return;
    const leave = this.#deps.nodes.join({ principal, params, address: this.#address, link: this.#linkOf() });
    this.#leavings = [...(this.#leavings ?? []), leave];
  }

  #linkOf(): ClientLink {
    this.#link ??= {
      send: (event, payload) => this.deliver(this.#deps.broadcast.encodeDirect(event, payload), false),
      close: (closing) => this.close(closing),
      isAlive: async () => this.#state !== 'closed' && (this.#isResting || this.#pulse.check(this.#deps.clock)), // not read from while it rests
    };
    return this.#link;
  }

  #onRequest(text: string | undefined): void {
    this.#requests ??= this.#openRequests();
    this.#requests?.onText(text);
    if (this.#outbox.isClogged()) this.#wire.pause();
  }

  #openRequests(): Requests | undefined {
    const [principal, watching, outbox] = [this.#principal, this.#membership, this.#outbox];
    if (!principal || !watching) return undefined; // not before the hello
    const { follow, dispatch, live, onRateLimited, clock, log } = this.#deps;
    const subscriptions = createSubscriptions({
      viewer: principal,
      follow,
      outbox,
      watching,
      mayDecide: mayDecide(principal),
    });
    this.#subscriptions = subscriptions;
    this.#gone = new AbortController();
    const { signal } = this.#gone;
    return createRequests({
      dispatch,
      caller: { principal, signal, address: this.#address, connId: this.#connId, link: this.#linkOf() },
      subscriptions,
      outbox,
      live,
      onRateLimited,
      onFlood: (restMs) => this.#rest(restMs, signal),
      clock,
      log,
    });
  }

  /** Pauses reading; the client's data waits on its side. */
  #rest(ms: number, gone: AbortSignal): void {
    if (this.#isResting) return;
    this.#isResting = true;
    this.#wire.pause();
    this.#deps.clock.sleep(ms, gone).then(
      () => this.#endRest(),
      () => undefined, // the connection has ended
    );
  }

  #endRest(): void {
    this.#isResting = false;
    this.#pulse.excuse();
    if (!this.#outbox.isClogged()) this.#wire.resume();
  }

  #end(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const { presence, revocations, log } = this.#deps;
    this.#outbox.close();
    this.#arrival?.stopDeadline();
    this.#arrival = undefined;
    this.#pulse.stop();
    this.#gone?.abort(GONE);
    presence.disconnected(this.#connId);
    if (this.#principal) revocations.unwatch(this.#principal.ended, this);
    this.#membership?.leave();
    this.#subscriptions?.close();
    for (const leave of this.#leavings ?? []) leave();
    log.debug({ connId: this.#connId }, 'disconnected');
  }
}
