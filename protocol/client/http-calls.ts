import type { z } from 'zod';
import { type Endpoint, type FileEndpoint, hasBody, type JsonEndpoint } from '../http/endpoint.ts';
import { LIMITS } from '../limits.ts';
import type { EndpointAddress } from './endpoint-address.ts';
import { toHttpError } from './http-error.ts';
import { systemTimers, type Timers } from './timers.ts';

/** The daemon's address and the caller's token. */
export interface HttpClientOptions {
  /** Scheme, host and port, such as http://127.0.0.1:7717. */
  baseUrl: string;
  /** Sent as a bearer token. Not needed in a browser with a login cookie. */
  token?: string | undefined;
  fetch?: typeof globalThis.fetch;
  timers?: Timers;
}

/** Options of one call. */
export interface HttpCallOptions {
  signal?: AbortSignal;
  /**
   * Timeout until the answer is read; then the call rejects with a DOMException named TimeoutError. Default: 30 s, plus the
   * longest time that the daemon allows for uploading the request's files.
   */
  timeoutMs?: number;
  /** A repeat with the same key gets the first answer (endpoints with `idempotencyKey`). */
  idempotencyKey?: string;
}

/** The row that an endpoint's types come from: the endpoint itself, or its `row`. */
type RowOf<T> = T extends Endpoint ? T : T extends { readonly row?: infer E extends Endpoint } ? E : never;

/** Calls of the HTTP interface, typed by `protocol/http`. For example: `call(endpoints.workstream.send, { ws_id, message })`. */
export interface HttpCalls {
  /** Resolves with the JSON body of a success; rejects with HttpError for any other status. */
  call<T extends JsonEndpoint | EndpointAddress<JsonEndpoint>>(
    endpoint: T,
    request: z.input<ReturnType<RowOf<T>['request']>>,
    options?: HttpCallOptions,
  ): Promise<z.output<ReturnType<RowOf<T>['reply']>>>;
  /** Like `call`, for endpoints that return a file: `download(endpoints.attachment.content, { ws_id, attachment_id })`. */
  download<T extends FileEndpoint | EndpointAddress<FileEndpoint>>(
    endpoint: T,
    request: z.input<ReturnType<RowOf<T>['request']>>,
    options?: HttpCallOptions,
  ): Promise<Blob>;
}

/**
 * Creates the calls to one daemon’s HTTP interface, without its event streams. They reject with HttpError for an error
 * answer, and with the errors of `fetch`.
 */
export function createHttpCalls(options: HttpClientOptions): HttpCalls {
  const { baseUrl, token, fetch = globalThis.fetch.bind(globalThis), timers = systemTimers } = options;
  /** Sends the request and reads the answer within the deadline. */
  async function ask<T>(
    { verb, path, request }: Omit<Place, 'baseUrl'>,
    { signal, timeoutMs = defaultTimeoutMs(request), idempotencyKey }: HttpCallOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { url, body, type } = placeFields({ baseUrl, path, verb, request });
    const deadline = createDeadline(timers, timeoutMs);
    try {
      const response = await fetch(url, {
        method: verb.toUpperCase(),
        headers: {
          ...toAuthorization(token),
          ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
          ...(type === undefined ? {} : { 'Content-Type': type }),
        },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.any([deadline.signal, ...(signal ? [signal] : [])]),
      });
      if (!response.ok) throw await toHttpError(response);
      return await read(response);
    } finally {
      deadline.cancel();
    }
  }
  return {
    call: ({ verb, path }, request, callOptions = {}) =>
      ask({ verb, path, request }, callOptions, async (response) =>
        response.status === 204 ? undefined : response.json(),
      ),
    download: ({ verb, path }, request, callOptions = {}) =>
      ask({ verb, path, request }, callOptions, (response) => response.blob()),
  };
}

/** The header with the caller's token. */
export const toAuthorization = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { Authorization: `Bearer ${token}` };

const DEFAULT_TIMEOUT_MS = 30_000;

function defaultTimeoutMs(request: unknown): number {
  const sizes = Object.values(request ?? {}).map((value) => (value instanceof Blob ? value.size : 0));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return DEFAULT_TIMEOUT_MS + Math.ceil(bytes / LIMITS.uploadProgressBytes) * LIMITS.bodyMs;
}

/** A signal that aborts after `ms` unless it is cancelled. */
function createDeadline(timers: Timers, ms: number): { signal: AbortSignal; cancel(): void } {
  const controller = new AbortController();
  const reason = () => new DOMException(`no answer within ${ms} ms`, 'TimeoutError');
  return { signal: controller.signal, cancel: timers.after(ms, () => controller.abort(reason())) };
}

interface Place extends Pick<Endpoint, 'verb' | 'path'> {
  baseUrl: string;
  request: unknown;
}

/** Puts each field of a request into the path if it is named there, else into the body of a POST or PUT, or the query. */
function placeFields({ baseUrl, verb, path, request }: Place): { url: URL; body?: string | FormData; type?: string } {
  const fields = new Map(Object.entries(request ?? {}));
  const filled = path.replaceAll(/\{(\+?)(\w+)\}/g, (_, plus: string, name: string) => {
    const value = encodeURIComponent(String(fields.get(name)));
    fields.delete(name);
    return plus === '' ? value : value.replaceAll('%2F', '/');
  });
  const url = new URL(filled, baseUrl);
  if (!hasBody(verb)) {
    url.search = toQuery(Object.fromEntries(fields));
    return { url };
  }
  if ([...fields.values()].some((value) => value instanceof Blob)) return { url, body: toForm(fields) };
  return { url, body: JSON.stringify(Object.fromEntries(fields)), type: 'application/json' };
}

/** Sends files as parts of a form; `fetch` sets the content type with the boundary. */
function toForm(fields: ReadonlyMap<string, unknown>): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.set(name, value instanceof Blob ? value : String(value));
  return form;
}

/** The fields of a request as the query of an address; those without a value are left out. */
export function toQuery(request: unknown): string {
  const given = Object.entries(request ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}
