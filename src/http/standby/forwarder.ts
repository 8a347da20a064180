import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { ClientAddress } from '../../gateway/auth/client-address.ts';
import { FORWARDED, UNKNOWN_SESSION } from '../../gateway/auth/machines/forwarded-head.ts';
import type { Log } from '../../log.ts';
import { type ActiveDaemon, type OwnProof, requestFor } from './active-daemon.ts';
import { answerSocket, headersToAnswer, headersToAsk, joinSockets } from './forwarded-message.ts';
import { createTargets, type Reached, type Targets } from './targets.ts';

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
  /** Answers a request that cannot be forwarded now. */
  refuse(req: IncomingMessage, res: ServerResponse): void;
  refuseSocket(socket: Duplex): void;
  log: Log;
}

/** More requests at once are refused: sockets and streams stay open for hours. */
const MOST_OPEN = 10_000;

export function createForwarder(deps: ForwarderDeps): Forwarder {
  const counts = { forwarded: 0, open: 0 };
  const { clientAddress, refuse, refuseSocket, log } = deps;
  const targets = createTargets(deps);
  const step = { clientAddress, refuse, refuseSocket, log, targets };
  /** The active daemon; undefined if it cannot be asked now, or the client has gone. */
  const reach = async (client: ServerResponse | Duplex): Promise<Reached | undefined> => {
    const reached = counts.open < MOST_OPEN ? await targets.reach() : undefined;
    if (reached === undefined || client.destroyed) return undefined;
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
      const reached = await reach(res);
      if (reached) forward({ req, res }, reached, step);
      else if (!res.destroyed) refuse(req, res);
    },
    async join(req, socket, head) {
      const reached = await reach(socket);
      if (reached) join({ req, socket, head }, reached, step);
      else if (!socket.destroyed) refuseSocket(socket);
    },
    follow: targets.follow,
    close: targets.close,
  };
}

type StepDeps = Omit<ForwarderDeps, 'own' | 'active'> & { targets: Targets };

function forward(
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  reached: Reached,
  { clientAddress, targets, refuse, log }: StepDeps,
): void {
  const asking = ask(req, reached, clientAddress);
  res.once('close', () => asking.destroy());
  asking.on('error', (error) => {
    log.debug({ reason: wordsOf(error) }, 'a forwarded request failed');
    if (res.headersSent) res.destroy();
    else refuse(req, res);
  });
  asking.on('response', (answer) => {
    if (answer.headers[UNKNOWN_SESSION] !== undefined) targets.leave(reached);
    res.sendDate = false;
    res.writeHead(answer.statusCode ?? 502, answer.statusMessage, headersToAnswer(answer));
    res.flushHeaders(); // of a stream, whose first event may come later
    for (const end of ['error', 'aborted']) answer.on(end, () => res.destroy());
    answer.pipe(res);
  });
  req.on('error', () => asking.destroy());
  req.pipe(asking);
}

function join(
  { req, socket, head }: { req: IncomingMessage; socket: Duplex; head: Buffer },
  reached: Reached,
  { clientAddress, targets, refuseSocket, log }: StepDeps,
): void {
  const asking = ask(req, reached, clientAddress);
  socket.once('close', () => asking.destroy());
  asking.on('error', (error) => {
    log.debug({ reason: wordsOf(error) }, 'a forwarded socket failed');
    refuseSocket(socket);
  });
  asking.on('upgrade', (answer, upstream, upstreamHead) => {
    const heads = { client: head, upstream: upstreamHead };
    joinSockets({ client: socket, upstream, answer, heads, signal: reached.signal });
  });
  asking.on('response', (answer) => {
    if (answer.headers[UNKNOWN_SESSION] !== undefined) targets.leave(reached);
    answerSocket(socket, answer);
  });
  asking.end();
}

/** The request to the active daemon, not yet sent to its end. */
function ask(
  req: IncomingMessage,
  { active, agent, session, signal }: Reached,
  clientAddress: ClientAddress,
): ClientRequest {
  const { method = 'GET', url = '/' } = req;
  const head = session.headOf(clientAddress(req), { method, target: url, host: req.headers.host ?? '' });
  const { hostname, port, protocol } = new URL(active.address);
  const asking = requestFor(active.address)({
    host: hostname.replace(/^\[|\]$/g, ''),
    port,
    protocol,
    method,
    path: url,
    agent,
    signal,
    headers: [...headersToAsk(req), FORWARDED, head],
    setDefaultHeaders: false,
  });
  endSlowConnects(asking);
  return asking;
}

/** How long the active daemon may take to accept a connection. */
const CONNECT_MS = 3_000;

function endSlowConnects(asking: ClientRequest): void {
  asking.once('socket', (socket) => {
    if (!socket.connecting) return;
    socket.setTimeout(CONNECT_MS, () => {
      if (socket.connecting) socket.destroy(new Error(`no connection within ${CONNECT_MS} ms`));
    });
    socket.once('connect', () => socket.setTimeout(0));
  });
}
