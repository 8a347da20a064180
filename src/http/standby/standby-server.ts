import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { ClientAddress } from '../../gateway/auth/client-address.ts';
import { FORWARDED } from '../../gateway/auth/machines/forwarded-head.ts';
import { type OriginPolicy, UNKNOWN_HOST } from '../../gateway/auth/origin-policy.ts';
import { problemOfHead } from '../../gateway/auth/request-head.ts';
import { isWebSocketUpgrade } from '../../gateway/connections/upgrade.ts';
import type { Log } from '../../log.ts';
import { withoutNode } from '../console/node-prefix.ts';
import { everyAnswer } from '../exchange.ts';
import { toOriginForm } from '../input/target.ts';
import { iso } from '../iso.ts';
import { rawAnswer } from '../raw/raw-answer.ts';
import { answerUnread } from '../raw/unread.ts';
import type { ActiveDaemon, OwnProof } from './active-daemon.ts';
import { endSoon, hasBody } from './forwarded-message.ts';
import { createForwarder, type Forwarder, type NoAnswer } from './forwarder.ts';

/** What a standby says about itself. */
export interface StandbyState {
  version: string;
  nodeId: string;
  /** It runs workstreams for the active daemon. */
  isWorker: boolean;
  /** The daemon that is active; undefined while there is none, or while it is unknown. */
  active: { nodeId: string; url: string | undefined; sinceMs: number } | undefined;
}

interface StandbyDeps {
  state(): StandbyState;
  own: OwnProof;
  /** Where requests are forwarded to. */
  active(): ActiveDaemon | undefined;
  originPolicy: Pick<OriginPolicy, 'checkHost'>;
  clientAddress: ClientAddress;
  clock: Clock;
  requestIdPrefix: string;
  log: Log;
}

export interface StandbyServer {
  server: Server;
  forwarder: Pick<Forwarder, 'counts' | 'follow' | 'close'>;
}

/**
 * A standby serves nobody itself: it forwards what it gets to the active daemon, and says in `/health` and `/metrics` what it is.
 * What cannot be forwarded is refused, so that clients come again.
 */
export function createStandbyServer(deps: StandbyDeps): StandbyServer {
  const { state, own, active, clientAddress, clock, log } = deps;
  const { answer, refuse, newRequestId } = createAnswers(deps);
  const forwarder = createForwarder({
    own,
    active,
    clientAddress,
    refuse: (req, res, why) => answer(req, res, REFUSALS[why]),
    refuseSocket: (socket) => refuse(socket, NOT_NOW),
    clock,
    log,
  });
  const answerOf = createOwnAnswers(deps, forwarder.counts);
  const ownUrl = (url: string) => withoutNode(url, { here: state() });
  const toOwn = (req: IncomingMessage) => {
    toOriginForm(req);
    req.url = ownUrl(req.url ?? '/');
  };
  const serve = (req: IncomingMessage, res: ServerResponse) => {
    toOwn(req);
    const said = answerOf(req);
    if (said === undefined) void forwarder.forward(req, res);
    else answer(req, res, said);
  };
  const server = createServer(
    {
      headersTimeout: LIMITS.headMs,
      connectionsCheckingInterval: 5_000, // Node's default of 30 s would give a request head up to 45 s
      requestTimeout: 0, // the active daemon limits bodies
      keepAliveTimeout: LIMITS.keepAliveMs,
      maxHeaderSize: LIMITS.requestHeadBytes,
      requireHostHeader: false, // refused below, with the headers of every answer
      shouldUpgradeCallback(req) {
        toOriginForm(req);
        const { method, url = '/', headers } = req;
        return isWebSocketUpgrade({ method, url: ownUrl(url), headers });
      },
    },
    serve,
  );
  server.maxHeadersCount = LIMITS.requestHeaders + 2; // like the active daemon
  server.on('checkExpectation', serve); // the expectation is ignored
  server.on('upgrade', (req, socket: Duplex, head) => {
    toOwn(req);
    const said = answerOf(req) ?? (hasBody(req) ? NO_BODY : undefined);
    if (said === undefined) void forwarder.join(req, socket, head);
    else refuse(socket, said);
  });
  // Without a listener, a client that resets its connection would end the process.
  server.on('connection', (socket) => {
    socket.setNoDelay(true);
    socket.on('error', (err) => log.debug({ err }, 'a connection failed'));
  });
  answerUnread(server, { newRequestId, clock, log });
  server.on('connect', (_, socket) => refuse(socket, NO_PROXY));
  return { server, forwarder };
}

/** What is answered here; undefined: it is the active daemon's to answer. */
function createOwnAnswers(
  { state, originPolicy, clock }: StandbyDeps,
  counts: Forwarder['counts'],
): (req: IncomingMessage) => Said | undefined {
  const startedMs = clock.monotonic();
  return ({ url = '/', headers, rawHeaders }) => {
    const problem = problemOfHead(rawHeaders);
    if (problem) return { status: problem.status, body: { error: problem.text } };
    if (!originPolicy.checkHost(headers.host)) return { status: 403, body: { error: UNKNOWN_HOST } };
    const path = url.split('?', 1)[0];
    if (path === '/health') return { status: 503, body: toHealth(state(), clock.monotonic() - startedMs) };
    if (path === '/metrics') return { status: 200, type: METRICS_TYPE, body: toMetrics(counts) };
    return headers[FORWARDED] === undefined ? undefined : NOT_NOW; // never twice
  };
}

/** Answers requests, and those for WebSockets. Connections end, so that clients soon ask the daemon that comes after this server. */
function createAnswers({ requestIdPrefix, clock }: StandbyDeps) {
  let requests = 0;
  const newRequestId = () => {
    requests += 1;
    return `${requestIdPrefix}-${requests.toString(36)}`;
  };
  const toAnswer = ({ status, type = 'application/json', body }: Said) => {
    const requestId = newRequestId();
    const text = typeof body === 'string' ? body : JSON.stringify({ ...body, request_id: requestId });
    const headers = { ...(status === 503 && { 'Retry-After': RETRY_SECONDS }) };
    return { requestId, answer: { status, contentType: type, body: text, headers } };
  };
  return {
    newRequestId,
    answer(req: IncomingMessage, res: ServerResponse, said: Said): void {
      const { requestId, answer } = toAnswer(said);
      req.resume();
      res.writeHead(answer.status, {
        ...everyAnswer({ requestId }),
        'Content-Type': answer.contentType,
        'Content-Length': Buffer.byteLength(answer.body),
        ...answer.headers,
        Connection: 'close',
      });
      res.end(req.method === 'HEAD' ? undefined : answer.body);
    },
    refuse(socket: Duplex, said: Said): void {
      const { requestId, answer } = toAnswer(said);
      endSoon(socket, clock, rawAnswer(requestId, answer));
    },
  };
}

interface Said {
  status: 200 | 400 | 403 | 404 | 431 | 502 | 503;
  type?: string;
  body: string | object;
}

const RETRY_SECONDS = '1';

/** As the active daemon answers the same. */
const NO_PROXY: Said = { status: 404, type: 'text/plain; charset=utf-8', body: 'Not found' };

/** Servers disagree on whether what follows belongs to the body or to the socket. */
const NO_BODY: Said = { status: 400, body: { error: 'A request for a WebSocket has no body.' } };

const NOT_NOW: Said = {
  status: 503,
  body: {
    error:
      'This machine is a standby, and the active daemon cannot be asked now. Try again in a second. GET /health names it.',
  },
};

/** Not the same words: a client that sent it again could do it twice. */
const UNKNOWN_OUTCOME: Said = {
  status: 502,
  body: {
    error: 'The active daemon did not answer. It may have carried out the request: check before you send it again.',
  },
};

const REFUSALS: Record<NoAnswer, Said> = { unasked: NOT_NOW, unknown: UNKNOWN_OUTCOME };

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** So that monitoring does not take a standby for a daemon that is down. */
const toMetrics = ({
  forwarded,
  open,
}: Forwarder['counts']): string => `# HELP service_lease_held 1: this daemon is the active one
# TYPE service_lease_held gauge
service_lease_held 0
# HELP service_forwarded_requests_total Requests that this standby forwarded to the active daemon
# TYPE service_forwarded_requests_total counter
service_forwarded_requests_total ${forwarded}
# HELP service_forwarded_open Forwarded requests and sockets that go on
# TYPE service_forwarded_open gauge
service_forwarded_open ${open}
`;

const toHealth = ({ version, nodeId, isWorker, active }: StandbyState, upMs: number) => ({
  status: isWorker ? 'worker' : 'standby',
  version,
  node_id: nodeId,
  uptime_seconds: Math.round(upMs / 100) / 10,
  active: active ? { node_id: active.nodeId, url: active.url ?? null, since: iso(active.sinceMs) } : null,
});
