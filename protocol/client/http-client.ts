import type { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';
import { type EventStreamOptions, readEventStream, type StreamMessage } from './event-stream.ts';
import { toHttpError } from './http-error.ts';
import { systemTimers, type Timers } from './timers.ts';

interface HttpClientOptions {
  /** Scheme, host and port, such as http://127.0.0.1:7717. */
  baseUrl: string;
  /** Sent as a bearer token; in a browser the login cookie does without. */
  token?: string | undefined;
  fetch?: typeof globalThis.fetch;
  timers?: Timers;
}

interface HttpCallOptions {
  signal?: AbortSignal;
  /** A repeat under the same key gets the first answer (rows with `idempotencyKey`). */
  idempotencyKey?: string;
}

/** The HTTP interface, typed by the rows of `protocol/http`: `call(workstreamEndpoints.send, { ws_id, message })`. */
export interface HttpClient {
  /** Resolves with the JSON body of a success, throws HttpError for any other status. */
  call<E extends Endpoint>(
    endpoint: E,
    request: z.input<E['request']>,
    options?: HttpCallOptions,
  ): Promise<z.output<E['reply']>>;
  /** The event stream of one workstream. Ends only by an abort or by a status that no retry can change. */
  events(wsId: string, options?: EventStreamOptions): AsyncGenerator<StreamMessage, never>;
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { baseUrl, token, fetch = globalThis.fetch.bind(globalThis), timers = systemTimers } = options;
  const authorization: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return {
    async call({ verb, path }, request, { signal, idempotencyKey } = {}) {
      const url = new URL(path, baseUrl);
      if (verb === 'get') url.search = toQuery(request);
      const response = await fetch(url, {
        method: verb.toUpperCase(),
        headers: {
          ...authorization,
          ...(verb === 'post' ? { 'Content-Type': 'application/json' } : {}),
          ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        },
        ...(verb === 'post' ? { body: JSON.stringify(request) } : {}),
        ...(signal === undefined ? {} : { signal }),
      });
      if (!response.ok) throw await toHttpError(response);
      return response.json();
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

function toQuery(request: unknown): string {
  const given = Object.entries(request ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}
