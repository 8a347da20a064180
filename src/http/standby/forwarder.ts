import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LIMITS } from '../../../protocol/limits.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { ClientAddress } from '../../gateway/auth/client-address.ts';
import { FORWARDED, UNKNOWN_SESSION } from '../../gateway/auth/machines/forwarded-head.ts';
import type { Log } from '../../log.ts';
import { type ActiveDaemon, type OwnProof, requestFor } from './active-daemon.ts';
import {
  answerSocket,
  hasBody,
  headersToAnswer,
  headersToAsk,
  headersToUpgrade,
  joinSockets,
} from './forwarded-message.ts';
import { createTargets, type Reached } from './targets.ts';

/** Forwards the requests of clients to the active daemon, whole and as they are. */
export interface Forwarder {
  /** How many requests were forwarded, and how many of them go on. */
  readonly counts: { forwarded: number; open: number };
  forward(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** The same for a request that asks for a WebSocket. */
  join(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
  /** To be called when another daemon may be active: ends what still goes to the one before. */
  follow(): void;
  /** Ends everything, so that clients come again. */
  close(): void;
}

export interface ForwarderDeps {
  own: OwnProof;
  /** The active daemon; undefined while there is none, or its address is not known. */
  active(): ActiveDaemon | undefined;
  clientAddress: ClientAddress;
  /** Answers a request that has no answer of the active daemon. */
  refuse(req: IncomingMessage, res: ServerResponse, why: NoAnswer): void;
  refuseSocket(socket: Duplex): void;
  clock: Clock;
  log: Log;
}

/** `unasked`: the request has changed nothing. `unknown`: the active daemon may have carried it out. */
export type NoAnswer = 'unasked' | 'unknown';

/** More requests at once are refused: sockets and streams stay open for hours. */
const MOST_OPEN = 10_000;

export function createForwarder(deps: ForwarderDeps): Forwarder {
  const counts = { forwarded: 0, open: 0 };
  const { refuse, refuseSocket, log } = deps;
  const targets = createTargets(deps);
  /** The active daemon; undefined if it cannot be asked now, or the client has gone. */
  const reach = async (client: ServerResponse | Duplex): Promise<Reached | undefined> => {
    const reached = await targets.reach();
    if (reached === undefined || client.destroyed || counts.open >= MOST_OPEN) return undefined;
    counts.forwarded += 1;
    counts.open += 1;
    client.once('close', () => {
      counts.open -= 1;
    });
    return reached;
  };
  return {
    counts,
    async forward(req, res) {
      // Sent before the one before it is answered: only then does Node report that its client has gone.
      if (res.socket === null) await once(res, 'socket');
      try {
        const reached = await reach(res);
        if (reached) forward({ req, res }, reached, deps);
        else if (!res.destroyed) refuse(req, res, 'unasked');
      } catch (error) {
        log.warn({ reason: wordsOf(error) }, 'a request could not be forwarded');
        res.destroy();
      }
    },
    async join(req, socket, head) {
      try {
        const reached = await reach(socket);
        if (reached) join({ req, socket, head }, reached, deps);
        else if (!socket.destroyed) refuseSocket(socket);
      } catch (error) {
        log.warn({ reason: wordsOf(error) }, 'a socket could not be forwarded');
        socket.destroy();
      }
    },
    follow: targets.follow,
    close: targets.close,
  };
}

/** Requests that change nothing, so that a client may send them again. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

function forward(
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  reached: Reached,
  { clientAddress, refuse, clock, log }: ForwarderDeps,
): void {
  const { asking, isSent } = ask(req, reached, { clientAddress, headers: headersToAsk(req), agent: reached.agent });
  res.once('close', () => asking.destroy());
  res.once('finish', () => readRest(req, clock));
  let got: IncomingMessage | undefined;
  asking.on('error', (error) => {
    if (got?.complete) return; // a refused upload: the answer is here, and then the connection ends
    log.debug({ reason: wordsOf(error) }, 'a forwarded request failed');
    if (res.headersSent) res.destroy();
    else refuse(req, res, isSent() && !SAFE.has(req.method ?? '') ? 'unknown' : 'unasked');
  });
  asking.on('upgrade', () => asking.destroy(new Error('it switches to another protocol'))); // nobody asked for it
  asking.on('response', (answer) => {
    got = answer;
    if (answer.headers[UNKNOWN_SESSION] === undefined) return passOn(answer, res, log);
    reached.renew();
    answer.resume();
    refuse(req, res, 'unasked');
  });
  req.on('error', () => asking.destroy());
  if (hasBody(req)) passBody(req, asking);
  else {
    asking.end();
    req.resume();
  }
}

/** Not `flushHeaders`, which encodes them as UTF-8: what was received are single bytes. */
const NOTHING = Buffer.alloc(0);

function passOn(answer: IncomingMessage, res: ServerResponse, log: Log): void {
  const end = () => void res.destroy();
  try {
    res.sendDate = false;
    res.writeHead(answer.statusCode ?? 0, headersToAnswer(answer));
  } catch (error) {
    log.warn({ reason: wordsOf(error) }, 'an answer of the active daemon is not valid HTTP');
    end();
    return;
  }
  answer.on('error', end);
  answer.on('aborted', end);
  // Then all of it is read that came with the head.
  queueMicrotask(() => {
    if (!answer.complete) res.write(NOTHING); // the first event of a stream may come later
    passBody(answer, res);
  });
}

/** A body that is here already is sent with its head, in one piece. */
function passBody(from: IncomingMessage, to: ClientRequest | ServerResponse): void {
  if (!from.complete) {
    from.pipe(to);
    return;
  }
  const parts: Buffer[] = [];
  for (let part = from.read(); part !== null; part = from.read()) parts.push(part); // one chunk at a time, as they came
  to.end(parts.length === 0 ? undefined : Buffer.concat(parts));
  from.resume(); // reports its end
}

/** The answer has come before the end of the request's body. A client that never ends it would keep its connection forever. */
function readRest(req: IncomingMessage, clock: Clock): void {
  if (req.complete || req.destroyed) return;
  const { socket } = req;
  const ended = new AbortController();
  for (const event of ['end', 'close']) req.once(event, () => ended.abort());
  req.unpipe();
  req.resume();
  clock.sleep(LIMITS.bodyMs, ended.signal).then(
    () => socket.destroy(),
    () => undefined,
  );
}

function join(
  { req, socket, head }: { req: IncomingMessage; socket: Duplex; head: Buffer },
  reached: Reached,
  { clientAddress, refuseSocket, clock, log }: ForwarderDeps,
): void {
  // A connection of its own: after a refusal, nothing of this client is left in one that others use.
  const { asking } = ask(req, reached, { clientAddress, headers: headersToUpgrade(req), agent: false });
  let isAnswered = false;
  socket.once('close', () => asking.destroy());
  asking.on('error', (error) => {
    log.debug({ reason: wordsOf(error) }, 'a forwarded socket failed');
    if (isAnswered) socket.destroy();
    else refuseSocket(socket);
  });
  asking.on('upgrade', (answer, upstream, upstreamHead) => {
    isAnswered = true;
    const heads = { client: head, upstream: upstreamHead };
    joinSockets({ client: socket, upstream, answer, heads, signal: reached.signal, clock });
  });
  asking.on('response', (answer) => {
    isAnswered = true;
    if (answer.headers[UNKNOWN_SESSION] === undefined) return answerSocket(socket, answer, clock);
    reached.renew();
    answer.resume();
    refuseSocket(socket);
  });
  asking.end();
}

interface Asked {
  asking: ClientRequest;
  /** Whether the active daemon may have received something of it. */
  isSent(): boolean;
}

/** The request to the active daemon, not yet sent to its end. */
function ask(
  req: IncomingMessage,
  { active, to, session, signal }: Reached,
  {
    clientAddress,
    headers,
    agent,
  }: { headers: string[]; agent: Reached['agent'] | false } & Pick<ForwarderDeps, 'clientAddress'>,
): Asked {
  const { method = 'GET', url = '/' } = req;
  const head = session.headOf(clientAddress(req), { method, target: url, host: req.headers.host ?? '' });
  const asking = requestFor(active.address)({
    ...to,
    method,
    path: url,
    agent,
    ...(!agent && { signal }), // those of an agent end with it
    headers: [...headers, FORWARDED, head],
    setDefaultHeaders: false,
  });
  return { asking, isSent: watchConnection(asking, to.protocol === 'https:' ? 'secureConnect' : 'connect') };
}

/** How long the active daemon may take to accept a connection. */
const CONNECT_MS = 3_000;

/** Ends a connection that takes too long; returns whether there is one. */
function watchConnection(asking: ClientRequest, connected: 'connect' | 'secureConnect'): () => boolean {
  let isOpen = false;
  asking.once('socket', (socket) => {
    isOpen = !socket.connecting;
    if (isOpen) return;
    socket.setTimeout(CONNECT_MS, () => {
      if (!isOpen) socket.destroy(new Error(`no connection within ${CONNECT_MS} ms`));
    });
    socket.once(connected, () => {
      isOpen = true;
      socket.setTimeout(0);
    });
  });
  return () => isOpen;
}
