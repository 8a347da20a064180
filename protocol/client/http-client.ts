import type { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';
import type { EndpointAddress } from './endpoint-addresses.ts';
import { type EventStreamOptions, readEventStream, type StreamMessage } from './event-stream.ts';
import { toHttpError } from './http-error.ts';
import { systemTimers, type Timers } from './timers.ts';

export interface HttpClientOptions {
  /** Scheme, host and port, such as http://127.0.0.1:7717. */
  baseUrl: string;
  /** Sent as a bearer token; in a browser the login cookie does without. */
  token?: string | undefined;
  fetch?: typeof globalThis.fetch;
  timers?: Timers;
}

export interface HttpCallOptions {
  signal?: AbortSignal;
  /** Until the answer is read. Beyond it the call rejects with a DOMException named TimeoutError. Default: 30 s. */
  timeoutMs?: number;
  /** A repeat under the same key gets the first answer (rows with `idempotencyKey`). */
  idempotencyKey?: string;
}

/** The row that an endpoint's types come from: it is one, or names it. */
type RowOf<T> = T extends Endpoint ? T : T extends { readonly row?: infer E extends Endpoint } ? E : never;

/** The HTTP interface, typed by the rows of `protocol/http`: `call(endpoints.workstream.send, { ws_id, message })`. */
export interface HttpClient {
  /** Resolves with the JSON body of a success, throws HttpError for any other status. */
  call<T extends Endpoint | EndpointAddress>(
    endpoint: T,
    request: z.input<RowOf<T>['request']>,
    options?: HttpCallOptions,
  ): Promise<z.output<RowOf<T>['reply']>>;
  /** The event stream of one workstream. Ends only by an abort or by a status that no retry can change. */
  events(wsId: string, options?: EventStreamOptions): AsyncGenerator<StreamMessage, never>;
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { baseUrl, token, fetch = globalThis.fetch.bind(globalThis), timers = systemTimers } = options;
  const authorization: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return {
    async call({ verb, path }, request, { signal, timeoutMs = DEFAULT_TIMEOUT_MS, idempotencyKey } = {}) {
      const { url, body } = placeFields(new URL(path, baseUrl), verb, request);
      const deadline = createDeadline(timers, timeoutMs);
      try {
        const response = await fetch(url, {
          method: verb.toUpperCase(),
          headers: {
            ...authorization,
            ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
            ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body }),
          signal: AbortSignal.any([deadline.signal, ...(signal ? [signal] : [])]),
        });
        if (!response.ok) throw await toHttpError(response);
        return await response.json();
      } finally {
        deadline.cancel();
      }
    },
    events(wsId, streamOptions = {}) {
      const open = (lastEventId: string | undefined, signal: AbortSignal) => {
        const url = new URL('/v1/api/events', baseUrl);
        url.search = toQuery({ ws_id: wsId, resume: lastEventId === undefined ? undefined : '1' });
        const resumeFrom: Record<string, string> = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
        return fetch(url, { headers: { ...authorization, ...resumeFrom }, signal });
      };
      return readEventStream({ timers, open }, streamOptions);
    },
  };
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** A signal that aborts after `ms`, unless it was cancelled before. */
function createDeadline(timers: Timers, ms: number): { signal: AbortSignal; cancel(): void } {
  const controller = new AbortController();
  const reason = () => new DOMException(`no answer within ${ms} ms`, 'TimeoutError');
  return { signal: controller.signal, cancel: timers.after(ms, () => controller.abort(reason())) };
}

/** The fields of a request go into the query of a GET, into the body of a POST. */
function placeFields(url: URL, verb: Endpoint['verb'], request: unknown): { url: URL; body: string | undefined } {
  if (verb === 'post') return { url, body: JSON.stringify(request) };
  url.search = toQuery(request);
  return { url, body: undefined };
}

function toQuery(request: unknown): string {
  const given = Object.entries(request ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}
