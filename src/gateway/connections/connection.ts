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
import type { Broadcast } from './broadcast.ts';
import type { UpgradeToken } from './credentials.ts';
import type { Deadlines } from './deadlines.ts';
import { type HandshakeOutcome, shakeHands } from './handshake.ts';
import { hearingOf } from './hearing.ts';
import { type Hello, maxPayloadOf } from './hello.ts';
import { type JoinFrames, Outbox } from './outbox.ts';
import { createRequests, type Requests } from './requests.ts';
import { encodeAnswerOf, encodeRefusal } from './response-frame.ts';
import type { Revocations } from './revocations.ts';
import { type ConnectionSubscriptions, createSubscriptions, type Follow } from './subscriptions.ts';
import type { Wire, WireListener } from './wire.ts';

/** What the upgrade request says about a client. */
export interface Upgrade {
  connId: string;
  address: string;
  credential: UpgradeToken;
  /** Whether a web page opened it. */
  hasOrigin: boolean;
  /** Frees the place among unauthenticated sockets. Closing the socket does so too. */
  leaveLobby(): void;
}

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

const MAX_MISSED_PINGS = 2;
/** The error for work that waited for a client that has disconnected. */
const GONE = new GatewayError('UNAVAILABLE', 'the connection was closed');

const closingOf = ({ reason }: AbortSignal): ClosingName =>
  reason instanceof RightsChanged ? 'rights_changed' : 'unauthorized';

/** One client from its upgrade to its end. */
export class Connection implements WireListener {
  readonly #wire: Wire;
  readonly #upgrade: Upgrade;
  readonly #deps: ConnectionDeps;
  readonly #outbox: Outbox;
  #gone: AbortController | undefined;
  readonly #endHandshake: () => void;
  #state: 'greeting' | 'joining' | 'open' | 'closed' = 'greeting';
  /** Frames that arrived before the hello: no more than one turn of the event loop reads. */
  #early: (string | undefined)[] = [];
  /** Reading waits for the outcome of the handshake. */
  #isPaused = false;
  #missedPings = 0;
  /** Reading is paused for a while, because the client sends far too many requests. */
  #isResting = false;
  #requests: Requests | undefined;
  /** Created with the first request, because many clients only listen. */
  #openRequests: (() => Requests) | undefined;
  #subscriptions: ConnectionSubscriptions | undefined;
  readonly #endings: (() => void)[] = [];
  readonly #link: ClientLink = {
    send: (event, payload) => this.#deliver(this.#deps.broadcast.encodeDirect(event, payload), false),
    close: (closing) => this.close(closing),
  };

  constructor(wire: Wire, upgrade: Upgrade, deps: ConnectionDeps) {
    this.#wire = wire;
    this.#upgrade = upgrade;
    this.#deps = deps;
    const { defer, join, maxBufferedBytes, deadlines } = deps;
    this.#outbox = new Outbox({ wire, defer, join, maxBufferedBytes, onRelief: () => this.#onRelief() });
    this.#endHandshake = deadlines.start(() => this.close('no_handshake'));
  }

  onMessage(text: string | undefined): void {
    this.#missedPings = 0;
    if (this.#state === 'open') this.#onRequest(text);
    if (this.#state === 'joining') this.#early.push(text);
    if (this.#state === 'greeting') this.#onGreeting(text);
  }

  onPong(): void {
    this.#missedPings = 0;
  }

  onClose(): void {
    this.#end();
  }

  /** Pings the client; closes the connection after two unanswered pings. */
  tick(): void {
    if (this.#state !== 'open') return;
    if (this.#missedPings >= MAX_MISSED_PINGS) {
      this.terminate();
    } else {
      this.#missedPings += 1;
      this.#wire.ping();
    }
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

  #onGreeting(text: string | undefined): void {
    this.#state = 'joining';
    const { authenticator, nodes, log } = this.#deps;
    const { credential: upgrade, address, hasOrigin } = this.#upgrade;
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
    this.#upgrade.leaveLobby();
    if (leave) this.#endings.push(leave);
    this.#endHandshake();
    const isStranger = principal.source.kind === 'unpaired';
    if (!isStranger) this.#appear(params);
    this.#endings.push(this.#deps.revocations.watch(principal.ended, () => this.close(closingOf(principal.ended))));
    // Together with the others of this turn: the list of clients changes with each, and is then encoded once for all.
    this.#deps.defer(() => this.#welcome(accepted));
  }

  #welcome({ id, params, principal }: Accepted): void {
    if (this.#state !== 'joining') return;
    const { hello, log } = this.#deps;
    const { connId } = this.#upgrade;
    this.#state = 'open';
    this.#outbox.answerAtOnce(encodeAnswerOf(id, hello(connId, principal)));
    this.#serve(principal);
    log.debug({ connId, principal: principal.id, client: params.client.name }, 'connected');
    this.#wire.setMaxPayload(maxPayloadOf(principal.source));
    this.#joinNodes(params, principal);
    if (this.#isPaused) this.#wire.resume();
    for (const frame of this.#early) this.onMessage(frame);
    this.#early = [];
  }

  #appear({ client }: ConnectParams): void {
    const { presence } = this.#deps;
    const { connId, address } = this.#upgrade;
    presence.connected(connId, client, address);
    this.#endings.push(() => presence.disconnected(connId));
  }

  #joinNodes(params: ConnectParams, principal: Principal): void {
    const { kind } = principal.source;
    if (kind !== 'node' && kind !== 'unpaired') return;
    const { address } = this.#upgrade;
    this.#endings.push(this.#deps.nodes.join({ principal, params, address, link: this.#link }));
  }

  #serve(principal: Principal): void {
    const { broadcast, follow, dispatch, live, onRateLimited, clock, log } = this.#deps;
    const outbox = this.#outbox;
    const membership = broadcast.join({
      hearing: hearingOf(principal),
      viewer: principal,
      deliver: (frame, dropIfSlow) => this.#deliver(frame, dropIfSlow),
    });
    this.#endings.push(membership.leave);
    this.#openRequests = () => {
      const subscriptions = createSubscriptions({
        viewer: principal,
        follow,
        outbox,
        watching: membership,
        mayDecide: mayDecide(principal),
      });
      this.#gone = new AbortController();
      const { address, connId } = this.#upgrade;
      const caller = { principal, signal: this.#gone.signal, address, connId, link: this.#link };
      this.#subscriptions = subscriptions;
      this.#endings.push(subscriptions.close);
      return createRequests({
        dispatch,
        caller,
        subscriptions,
        outbox,
        live,
        onRateLimited,
        onFlood: (restMs) => this.#rest(restMs, caller.signal),
        clock,
        log,
      });
    };
  }

  #onRequest(text: string | undefined): void {
    this.#requests ??= this.#openRequests?.();
    this.#requests?.onText(text);
    if (this.#outbox.isClogged()) this.#wire.pause();
  }

  #deliver(frame: Buffer, dropIfSlow: boolean): void {
    if (!this.#outbox.isOver()) this.#outbox.push(frame);
    else if (!dropIfSlow) this.close('slow_consumer');
  }

  #onRelief(): void {
    this.#missedPings = 0; // it was not read from, so it could not answer
    if (!this.#isResting) this.#wire.resume();
    this.#subscriptions?.resume();
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
    this.#missedPings = 0;
    if (!this.#outbox.isClogged()) this.#wire.resume();
  }

  #end(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#outbox.close();
    this.#endHandshake();
    this.#gone?.abort(GONE);
    for (const end of this.#endings) end();
    this.#deps.log.debug({ connId: this.#upgrade.connId }, 'disconnected');
  }
}
