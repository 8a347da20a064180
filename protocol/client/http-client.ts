import { type EventStreamOptions, readEventStream, type StreamMessage } from './event-stream.ts';
import { createHttpCalls, type HttpCalls, type HttpClientOptions, toAuthorization, toQuery } from './http-calls.ts';
import { systemTimers } from './timers.ts';

/** The HTTP interface: its calls and its event streams. */
export interface HttpClient extends HttpCalls {
  /** The event stream of one workstream. Ends only by an abort, or with an HttpError that a retry cannot fix. */
  events(wsId: string, options?: EventStreamOptions): AsyncGenerator<StreamMessage, never>;
}

/**
 * Creates a client of one daemon’s HTTP interface. Calls reject with HttpError for an error answer, and with the errors of
 * `fetch`.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { baseUrl, token, fetch = globalThis.fetch.bind(globalThis), timers = systemTimers } = options;
  const { call, download } = createHttpCalls(options);
  return {
    call,
    download,
    events(wsId, streamOptions = {}) {
      const open = (lastEventId: string | undefined, signal: AbortSignal) => {
        const url = new URL('/v1/api/events', baseUrl);
        url.search = toQuery({ ws_id: wsId, resume: lastEventId === undefined ? undefined : '1' });
        const resumeFrom: Record<string, string> = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
        return fetch(url, { headers: { ...toAuthorization(token), ...resumeFrom }, signal });
      };
      return readEventStream({ timers, open }, streamOptions);
    },
  };
}
