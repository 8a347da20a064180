// `headgate/http`: the client of the HTTP interface and its event streams, for Node and browsers.

export type { TransientEvent } from '../../events/transient.ts';
export type { StreamEvent } from '../../stream-events.ts';
export { endpoints } from '../endpoint-addresses.ts';
export type { EventStreamOptions, StreamMessage } from '../event-stream.ts';
export type { HttpCallOptions, HttpClientOptions } from '../http-calls.ts';
export { createHttpClient, type HttpClient } from '../http-client.ts';
export { HttpError } from '../http-error.ts';
