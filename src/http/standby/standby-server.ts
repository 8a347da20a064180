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
import { rawAnswer } from '../raw/raw-answer.ts';
import { answerUnread } from '../raw/unread.ts';
import type { ActiveDaemon, OwnProof } from './active-daemon.ts';
import { endSoon, hasBody } from './forwarded-message.ts';
import { createForwarder, type Forwarder, type NoAnswer } from './forwarder.ts';
import { type StandbyState, toHealth, toMetrics } from './own-state.ts';

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
  /** Also serves these metrics, of what a worker does. */
  show(metrics: ShownMetrics): void;
}

interface ShownMetrics {
  text(): Promise<string>;
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
  let shown: ShownMetrics | undefined;
  const answerOf = createOwnAnswers(deps, { counts: forwarder.counts, before: () => shown?.text() });
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
  return {
    server,
    forwarder,
    show(metrics) {
      shown = metrics;
    },
  };
}

interface OwnMetrics {
  counts: Forwarder['counts'];
  before(): Promise<string> | undefined;
}

/** What is answered here; undefined: it is the active daemon's to answer. */
function createOwnAnswers(
  { state, originPolicy, clock }: StandbyDeps,
  { counts, before }: OwnMetrics,
): (req: IncomingMessage) => Said | undefined {
  const startedMs = clock.monotonic();
  return ({ url = '/', headers, rawHeaders }) => {
    const problem = problemOfHead(rawHeaders);
    if (problem) return { status: problem.status, body: { error: problem.text } };
    if (!originPolicy.checkHost(headers.host)) return { status: 403, body: { error: UNKNOWN_HOST } };
    const path = url.split('?', 1)[0];
    if (path === '/health') return { status: 503, body: toHealth(state(), clock.monotonic() - startedMs) };
    if (path === '/metrics') return { status: 200, type: METRICS_TYPE, before, body: toMetrics(state(), counts) };
    return headers[FORWARDED] === undefined ? undefined : NOT_NOW; // never twice
  };
}

/** Answers requests, and those for WebSockets. Connections end, so that clients soon ask the daemon that comes after this server. */
function createAnswers({ requestIdPrefix, clock, log }: StandbyDeps) {
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
  const withBefore = ({ before, ...said }: Said): Promise<Said> | undefined =>
    before?.()?.then(
      (text) => ({ ...said, body: `${text}${said.body}` }),
      (err: unknown) => {
        log.warn({ err }, 'the metrics could not be read');
        return said;
      },
    );
  return {
    newRequestId,
    answer: function answer(req: IncomingMessage, res: ServerResponse, said: Said): void {
      const whole = withBefore(said);
      if (whole !== undefined) {
        void whole.then((text) => answer(req, res, text));
        return;
      }
      const { requestId, answer: written } = toAnswer(said);
      req.resume();
      res.writeHead(written.status, {
        ...everyAnswer({ requestId }),
        'Content-Type': written.contentType,
        'Content-Length': Buffer.byteLength(written.body),
        ...written.headers,
        Connection: 'close',
      });
      res.end(req.method === 'HEAD' ? undefined : written.body);
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
  /** Comes before the body. */
  before?(): Promise<string> | undefined;
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
