import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { HeaderFields } from './status.ts';

/** What the HTTP edge counts. */
export interface HttpMetrics {
  /** `endpoint` is the row's path, so that the number of label values is bounded. */
  httpRequest(request: { method: string; endpoint: string; statusCode: number; seconds: number }): void;
  rateLimited(): void;
  sseConnections(change: 1 | -1): void;
  sseCoalesced(): void;
  /** The text exposition format, version 0.0.4. */
  text(): Promise<string>;
}

/** One request and its answer, on the path beside Express. */
export interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  /** What stands after the `?`. */
  query: string;
  /** The row's path. */
  endpoint: string;
  /** What stands in the request's path where the row's names fields. */
  fields: Readonly<Record<string, string>>;
  startedMs: number;
}

export interface Answer {
  status: number;
  contentType: string;
  body: string;
  headers?: HeaderFields;
}

export type Respond = (exchange: Exchange, answer: Answer) => void;

const LINGER_MS = 1_000;

/** Writes whole answers by hand: Express's `res.json` costs more than all the rest of a cheap call. */
export function createRespond({ metrics, clock }: { metrics: HttpMetrics; clock: Clock }): Respond {
  return (exchange, { status, contentType, body, headers }) => {
    const { req, res, endpoint, startedMs } = exchange;
    if (!res.headersSent && !res.destroyed) {
      res.writeHead(status, {
        'Access-Control-Allow-Origin': '*',
        'Content-Type': contentType,
        'Content-Length': Buffer.byteLength(body),
        ...headers,
      });
      if (status === 413) endLater(exchange, body, clock);
      else res.end(body);
    }
    const seconds = (clock.monotonic() - startedMs) / 1000;
    metrics.httpRequest({ method: req.method ?? '', endpoint, statusCode: status, seconds });
  };
}

export const json = (status: number, body: unknown, headers?: HeaderFields): Answer => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
  ...(headers && { headers }),
});

/** Closing on bytes nobody read would reset the connection, and the client would never see why. */
function endLater({ req, res }: Exchange, body: string, clock: Clock): void {
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
