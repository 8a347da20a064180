import { hash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { withWholeCharacters } from '../content/whole-characters.ts';
import type { Log } from '../log.ts';
import type { Defer } from '../timing/end-of-turn.ts';
import { chooseEncoding, compress, type Encoding, type StaticText } from './encoding.ts';
import type { Failure, HeaderFields } from './status.ts';

/** What the HTTP edge counts. */
export interface HttpMetrics {
  /** `endpoint` is the row's path, which bounds the number of label values. */
  httpRequest(request: { method: string; endpoint: string; statusCode: number; seconds: number }): void;
  rateLimited(): void;
  sseConnections(change: 1 | -1): void;
  sseCoalesced(): void;
  /** The text exposition format, version 0.0.4. */
  text(): Promise<string>;
}

/** One request and its answer. */
export interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  /** Names the request in its answer and in the log. */
  requestId: string;
  /** As sent in the request. */
  path: string;
  /** The part after the `?`. */
  query: string;
  /** The row's path, once it is found. */
  endpoint: string;
  /** The decoded path segments that the row names as fields. */
  fields: Readonly<Record<string, string>>;
  startedMs: number;
}

export interface Answer {
  status: number;
  /** Absent when there is no body. */
  contentType?: string;
  body: string | Buffer;
  /** Precomputed for a text that never changes. */
  known?: { encoded: StaticText['encoded']; etag: string };
  /**
   * `Cache-Control: no-store` marks an answer with a credential: it is neither compressed nor given an ETag
   * (SECURITY.md).
   */
  headers?: HeaderFields;
}

export type Respond = (exchange: Exchange, answer: Answer) => void;

const LINGER_MS = 1_000;
/** Smaller answers fit into one packet anyway. */
const MIN_CODED_BYTES = 1024;

interface RespondDeps {
  metrics: HttpMetrics;
  log: Pick<Log, 'debug' | 'isDebugging'>;
  clock: Clock;
  /**
   * Answers of one turn of the event loop are written together. Their clients then wake up once for many, which costs the
   * kernel less than half as much.
   */
  defer: Defer;
}

/** Writes answers directly: Express's `res.json` costs more than the rest of a cheap call. */
export function createRespond({ metrics, log, clock, defer }: RespondDeps): Respond {
  return (exchange, answer) => {
    const { res } = exchange;
    const count = (statusCode: number) => noteAnswered(exchange, statusCode, { metrics, log, clock });
    const { status, body } = answer;
    const bytes = Buffer.byteLength(body);
    if (res.headersSent || res.destroyed) count(lateStatus(res, status));
    else if (bytes >= MIN_CODED_BYTES && status !== 413 && answer.headers?.['Cache-Control'] !== 'no-store') {
      respondAtLength(exchange, answer, count);
    } else {
      res.writeHead(status, headOf(exchange, answer, bytes));
      if (status === 413) endLater(exchange, body, clock);
      else defer(() => res.end(body));
      count(status);
    }
  };
}

/** What counts of an answer that comes too late: an error that was sent before it, or the reason why a success broke off. */
const lateStatus = ({ headersSent, statusCode }: ServerResponse, status: number): number =>
  headersSent && statusCode >= 400 ? statusCode : status;

/** Counts an answer and writes its line to the log. */
export function noteAnswered(
  { req, requestId, endpoint, startedMs }: Pick<Exchange, 'req' | 'requestId' | 'endpoint' | 'startedMs'>,
  statusCode: number,
  {
    metrics,
    log,
    clock,
  }: Pick<RespondDeps, 'log'> & { metrics: Pick<HttpMetrics, 'httpRequest'>; clock: Pick<Clock, 'monotonic'> },
): void {
  const seconds = (clock.monotonic() - startedMs) / 1000;
  metrics.httpRequest({ method: req.method ?? '', endpoint, statusCode, seconds });
  if (log.isDebugging === false) return;
  log.debug({ requestId, method: req.method, endpoint, statusCode, seconds }, 'a request was answered');
}

function headOf(exchange: Exchange, answer: Answer, bytes: number): OutgoingHttpHeaders {
  const head = headersOf(exchange, answer);
  if (answer.status !== 204) head['Content-Length'] = bytes; // a 204 must not have it
  return head;
}

/** The headers of every answer. */
export const everyAnswer = ({ requestId }: Pick<Exchange, 'requestId'>) => ({
  'Access-Control-Allow-Origin': '*',
  'X-Request-Id': requestId,
});

/** A new object at every call. Without spreads, which cost more in a cheap call than the rest of its answer. */
function headersOf(exchange: Pick<Exchange, 'requestId'>, { contentType, headers }: Answer): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = everyAnswer(exchange);
  if (contentType !== undefined) head['Content-Type'] = contentType;
  return headers ? Object.assign(head, headers) : head;
}

/** Answers with compression and an ETag. */
function respondAtLength(exchange: Exchange, answer: Answer, count: (statusCode: number) => void): void {
  const { req, res } = exchange;
  const { status } = answer;
  const etag = status === 200 && (req.method === 'GET' || req.method === 'HEAD') ? etagOf(answer) : undefined;
  const headers = { Vary: 'Accept-Encoding', ...(etag && { 'Cache-Control': 'private, no-cache', ETag: etag }) };
  if (etag !== undefined && matches(req.headers['if-none-match'], etag)) {
    res.writeHead(304, { ...headers, ...headersOf(exchange, answer) }).end();
    count(304);
    return;
  }
  const write = ({ bytes, encoding }: Coded) => {
    const coding = encoding && { 'Content-Encoding': encoding };
    const length = { 'Content-Length': bytes.byteLength };
    if (!res.destroyed)
      res.writeHead(status, { ...headers, ...headersOf(exchange, answer), ...length, ...coding }).end(bytes);
    count(status);
  };
  const plain = () => write({ bytes: bytesOf(answer) });
  const encoding = chooseEncoding(req.headers['accept-encoding']);
  if (encoding === undefined) plain();
  else codeAs(encoding, answer).then(write, plain);
}

interface Coded {
  bytes: Uint8Array;
  encoding?: Encoding;
}

async function codeAs(encoding: Encoding, { body, known }: Answer): Promise<Coded> {
  const ready = known?.encoded[encoding];
  if (ready) return { bytes: ready, encoding };
  const plain = bytesOf({ body });
  const bytes = await compress(plain, encoding);
  return bytes ? { bytes, encoding } : { bytes: plain };
}

const bytesOf = ({ body }: Pick<Answer, 'body'>): Buffer => (typeof body === 'string' ? Buffer.from(body) : body);

const etagOf = ({ body, known }: Answer): string => known?.etag ?? toEtag(body);

/** A weak ETag, because it stands for the text in every coding. */
export const toEtag = (body: Answer['body']): string => `W/"${hash('sha1', body, 'base64url')}"`;

/** Whether an `If-None-Match` contains the ETag, by weak comparison. */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const names = ifNoneMatch.split(',').map((name) => name.trim().replace(/^W\//, ''));
  return names.includes('*') || names.includes(etag.replace(/^W\//, ''));
}

export const json = (status: number, body: unknown, headers?: HeaderFields): Answer => ({
  status,
  contentType: 'application/json',
  body: withWholeCharacters(JSON.stringify(body)),
  ...(headers && { headers }),
});

/**
 * Every JSON answer with an error. Its body names the request as the header `X-Request-Id` does, so a person who reports
 * only the body reports enough to find the request in the log.
 */
export const failureAnswer = ({ requestId }: Pick<Exchange, 'requestId'>, { status, body, headers }: Failure): Answer =>
  json(status, { ...body, request_id: requestId }, headers);

/** An answer without a body. */
export const empty = (status: 204 | 302, headers?: HeaderFields): Answer => ({
  status,
  body: '',
  ...(headers && { headers }),
});

/**
 * Lets the client finish sending first: closing with unread bytes would reset the connection before the client reads
 * the answer.
 */
function endLater({ req, res }: Exchange, body: Answer['body'], clock: Clock): void {
  const ended = new AbortController();
  const end = () => {
    ended.abort();
    res.end();
  };
  res.write(body);
  req.resume();
  req.once('end', end);
  req.once('close', end);
  clock.sleep(LINGER_MS, ended.signal).then(end, end);
}
