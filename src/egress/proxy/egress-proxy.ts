import { lookup as lookUpName } from 'node:dns';
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { connect, type LookupFunction, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EgressError } from '../guarded-egress.ts';
import { checkHost, type HostDecision } from '../host-decision.ts';
import { type ProxyTarget, parseTarget } from './proxy-target.ts';

/** One attempt to reach a host. */
export interface Connection extends ProxyTarget {
  /**
   * `refused`: the host is not allowed. `address`: it leads to an address that is not. `failed`: it could not be
   * reached.
   */
  outcome: 'connected' | 'refused' | 'address' | 'failed';
  /** Of a refused one: the rule that denies it. */
  rule?: string;
}

/** The program, or programs, behind one listener. */
export interface ProxyClient {
  decide(target: ProxyTarget): HostDecision;
  onConnection(connection: Connection): void;
}

/** Connects programs that have no network of their own with allowed hosts. */
export interface EgressProxy {
  /** Serves everyone who connects to this listener. Closes it and all its connections at the end. */
  serve(listener: Server, client: ProxyClient): AsyncDisposable;
  /** Leads everyone who connects to this listener to a port of this machine, if the client may reach it. */
  lead(listener: Server, port: number, client: ProxyClient): AsyncDisposable;
}

interface ProxyDeps {
  /** For tests; `dns.lookup` otherwise. */
  lookup?: LookupFunction;
}

/** More connections at once than this are for nobody's good. */
const MAX_CONNECTIONS = 256;

/**
 * An HTTP proxy with a guard: a host is allowed by name, its addresses are checked when it is resolved, and the
 * connection goes to a checked address. TLS passes through.
 */
export function createEgressProxy({ lookup = lookUpName }: ProxyDeps = {}): EgressProxy {
  return {
    serve(listener, client) {
      const http = createServer({ keepAliveTimeout: 5_000 });
      http.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        socket.on('error', () => socket.destroy());
        void tunnel({ request, socket, head }, { client, lookup });
      });
      http.on('request', (request, response) => void forward(request, response, { client, lookup }));
      http.on('clientError', (_, socket) => socket.destroy());
      return accept(listener, (socket) => void http.emit('connection', socket));
    },
    lead: (listener, port, client) =>
      accept(listener, (socket) => {
        socket.on('error', () => socket.destroy());
        void leadTo({ host: '127.0.0.1', port }, { socket, client });
      }),
  };
}

/** Accepts connections until it is disposed; then closes the listener and all of them. */
function accept(listener: Server, onSocket: (socket: Socket) => void): AsyncDisposable {
  const open = new Set<Socket>();
  listener.on('connection', (socket) => {
    if (open.size >= MAX_CONNECTIONS) return void socket.destroy();
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    onSocket(socket);
  });
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

async function leadTo(target: ProxyTarget, { socket, client }: { socket: Socket; client: ProxyClient }): Promise<void> {
  const decisions = ['localhost', target.host].map((host) => client.decide({ host, port: target.port }));
  const report = (outcome: Connection['outcome'], rule?: string) =>
    client.onConnection({ host: 'localhost', port: target.port, outcome, ...(rule !== undefined && { rule }) });
  const denied = decisions.find((decision) => decision.kind === 'deny' && decision.rule !== undefined);
  if (denied !== undefined || !decisions.some((decision) => decision.kind === 'allow' && decision.mayBePrivate)) {
    report('refused', denied?.kind === 'deny' ? denied.rule : undefined);
    return void socket.destroy();
  }
  const upstream = connect({ host: target.host, port: target.port, timeout: CONNECT_MS });
  try {
    await connected(upstream);
  } catch {
    report('failed');
    return void socket.destroy();
  }
  report('connected');
  await Promise.all([pipeline(socket, upstream), pipeline(upstream, socket)]).catch(() => undefined); // either end has left
}

interface Serving {
  client: ProxyClient;
  lookup: LookupFunction;
}

interface Tunnel {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

async function tunnel({ request, socket, head }: Tunnel, serving: Serving): Promise<void> {
  const target = parseTarget(request.url ?? '');
  const way = target === undefined ? undefined : openWay(target, serving);
  if (target === undefined || way === undefined) return void socket.end(toAnswer(BAD_NAME));
  if (way.kind === 'refused') return void socket.end(toAnswer(way.refusal));
  const upstream = connect({ host: target.host, port: target.port, lookup: way.lookup, timeout: CONNECT_MS });
  try {
    await connected(upstream);
  } catch (error) {
    return void socket.end(toAnswer(way.failed(error)));
  }
  way.succeeded();
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  upstream.write(head);
  // Either end may leave at any time; the other one is closed then.
  await Promise.all([pipeline(socket, upstream), pipeline(upstream, socket)]).catch(() => undefined);
}

const CONNECT_MS = 30_000;

async function connected(socket: Socket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('connect', resolve).once('error', reject);
  socket.once('timeout', () => socket.destroy(new Error('no answer')));
  await promise;
  socket.setTimeout(0);
}

/** Headers that concern one connection only (RFC 9110, 7.6.1). */
const HOP_BY_HOP = [
  ...['connection', 'proxy-connection', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding'],
  'upgrade',
];

async function forward(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const url = URL.parse(request.url ?? '');
  const target = url?.protocol === 'http:' ? parseTarget(url.host, 80) : undefined;
  const way = target === undefined ? undefined : openWay(target, serving);
  if (url === null || target === undefined || way === undefined) return answer(response, BAD_NAME);
  if (way.kind === 'refused') return answer(response, way.refusal);
  const kept = Object.entries(request.headersDistinct).filter(([name]) => !HOP_BY_HOP.includes(name));
  const upstream = requestHttp({
    host: target.host,
    port: target.port,
    path: `${url.pathname}${url.search}`,
    method: request.method,
    headers: { ...Object.fromEntries(kept), host: url.host },
    lookup: way.lookup,
    timeout: CONNECT_MS,
    agent: false,
  });
  upstream.once('timeout', () => upstream.destroy(new Error('no answer')));
  // Connected, the server may think as long as the program waits for it.
  upstream.once('socket', (socket) => socket.once('connect', () => socket.setTimeout(0)));
  response.once('close', () => upstream.destroy());
  const reply = Promise.withResolvers<IncomingMessage>();
  upstream.once('response', reply.resolve).on('error', reply.reject);
  pipeline(request, upstream).catch(reply.reject);
  try {
    const incoming = await reply.promise;
    way.succeeded();
    const headers = Object.entries(incoming.headersDistinct).filter(([name]) => !HOP_BY_HOP.includes(name));
    response.writeHead(incoming.statusCode ?? 502, Object.fromEntries(headers));
    await pipeline(incoming, response);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else answer(response, way.failed(error));
  }
}

interface Refusal {
  status: number;
  text: string;
}

const BAD_NAME: Refusal = { status: 400, text: 'This proxy needs the name and port of a host.' };

type Way =
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'open'; lookup: LookupFunction; succeeded(): void; failed(error: unknown): Refusal };

/** Decides whether the target may be reached. The lookup checks every address of a name when it is resolved. */
function openWay(target: ProxyTarget, { client, lookup }: Serving): Way {
  const report = (outcome: Connection['outcome'], rule?: string) =>
    client.onConnection({ host: target.host, port: target.port, outcome, ...(rule !== undefined && { rule }) });
  const decision = client.decide(target);
  const at = `${target.host}:${target.port}`;
  if (decision.kind === 'deny') {
    report('refused', decision.rule);
    return { kind: 'refused', refusal: { status: 403, text: `Connections to ${at} are not allowed by Headgate.` } };
  }
  const host = checkHost(target.host, { decision, lookup });
  if (host.kind === 'refused') {
    report('address');
    return { kind: 'refused', refusal: { status: 403, text: `${at} is a private or reserved address.` } };
  }
  return {
    kind: 'open',
    lookup: host.lookup,
    succeeded: () => report('connected'),
    failed(error) {
      const isAddress = error instanceof EgressError;
      const denied = host.deniedBy();
      report(isAddress ? (denied === undefined ? 'address' : 'refused') : 'failed', isAddress ? denied : undefined);
      return isAddress
        ? { status: 403, text: `${at} leads to an address that is not allowed.` }
        : { status: 502, text: `${at} cannot be reached.` };
    },
  };
}

function answer(response: ServerResponse, { status, text }: Refusal): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
  response.end(`${text}\n`);
}

const toAnswer = ({ status, text }: Refusal): string =>
  `HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain\r\nContent-Length: ${text.length + 1}\r\nConnection: close\r\n\r\n${text}\n`;
