import type { z } from 'zod';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Endpoint } from '../../../protocol/http/endpoint.ts';
import type { eventsEndpoints } from '../../../protocol/http/events.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { Principal } from '../../gateway/auth/principal.ts';
import { typeOf } from '../../gateway/events/log-entry.ts';
import type { LogReader, Sink } from '../../gateway/events/log-reader.ts';
import { toSseFrames, withWorkstream } from '../../gateway/events/sse-frames.ts';
import { mayDecide } from '../../gateway/rights.ts';
import type { Beginning, EventStreams } from '../../gateway/streams/event-streams.ts';
import type { Log } from '../../log.ts';
import { type Exchange, type HttpMetrics, noteAnswered } from '../exchange.ts';
import { type Guarded, known } from '../guard.ts';
import { queryOf, read } from '../input/fields.ts';
import type { Places } from '../input/places.ts';
import { openSse, RETRY, type SseStream, type SseWriting, sseFrame } from '../sse.ts';
import { type Change, createLatest } from '../streams/latest.ts';

export interface EventRouteDeps {
  streams: EventStreams;
  clock: Clock;
  writing: SseWriting;
  metrics: Pick<HttpMetrics, 'httpRequest' | 'sseConnections' | 'sseCoalesced'>;
  /** The open streams of each caller. */
  places: Places;
  log: Pick<Log, 'debug' | 'isDebugging'>;
  /** Aborts when the server shuts down. */
  closing: AbortSignal;
}

/** What a stream route receives once the caller is known and the query is parsed. */
export interface StreamRequest<Q> {
  exchange: Exchange;
  principal: Principal;
  request: Q;
}

interface StreamRoute<E extends Endpoint> {
  endpoint: E;
  open(request: StreamRequest<z.output<ReturnType<E['request']>>>, deps: EventRouteDeps): void | Promise<void>;
}

/** A stream writes its own answer once it is open. Until then it fails like any other endpoint. */
export const streamOf = <E extends Endpoint>({ endpoint, open }: StreamRoute<E>, deps: EventRouteDeps): Guarded => ({
  endpoint,
  async work(exchange, caller) {
    const principal = known(caller);
    takePlace(exchange, principal, deps);
    await open({ exchange, principal, request: read(endpoint, { ...queryOf(exchange), ...exchange.fields }) }, deps);
    noteAnswered(exchange, 200, deps);
  },
});

function takePlace({ res }: Exchange, { id }: Principal, { places }: EventRouteDeps): void {
  if (res.destroyed) return; // the client left before it was known: nobody would give its place back
  const leave = places.take(id);
  if (leave === undefined)
    throw new GatewayError('RATE_LIMITED', `Too many open event streams (limit ${LIMITS.streamsPerPrincipal})`, {
      retryAfterMs: 5_000,
    });
  res.once('close', leave);
}

type EventsQuery = z.output<ReturnType<(typeof eventsEndpoints)['events']['request']>>;

/** Streams one workstream: `connected`, the beginning, then its log. */
export async function streamWorkstream(
  { exchange: { req, res, requestId }, principal, request }: StreamRequest<EventsQuery>,
  { streams, writing, metrics, closing }: EventRouteDeps,
): Promise<void> {
  const { ws_id, history_token, last_event_id = history_token, history } = request;
  const { resume = last_event_id !== undefined, snapshot = false } = request;
  // The header is newer: an EventSource that reconnects repeats its address and adds the header.
  const lastEventId = resume ? (req.headers['last-event-id'] ?? last_event_id) : undefined;
  const opening = await streams.open(ws_id, {
    viewer: principal,
    ...(typeof lastEventId === 'string' && { lastEventId }),
    resume,
    snapshot,
    ...(history !== undefined && { history }),
  });
  if (res.destroyed) return;
  let reader: LogReader | undefined;
  const left = new AbortController();
  const stream = openSse(res, {
    requestId,
    writing,
    until: [principal.ended, closing],
    onReady: () => reader?.resume(),
    onEnd() {
      left.abort();
      reader?.close();
      metrics.sseConnections(-1);
    },
  });
  metrics.sseConnections(1);
  stream.send(RETRY + sseFrame(opening.connected));
  const { frames, after } = await opening.begin(left.signal);
  if (left.signal.aborted) return;
  stream.send(frames.map((frame) => toFrames(ws_id, frame)).join(''));
  reader = streams.follow(ws_id, after, {
    viewer: principal,
    sink: new StreamSink(stream, ws_id),
    onEnd: stream.end,
    mayDecide: mayDecide(principal),
    since: opening.since,
  });
}

/** Streams the state of every workstream, then changes. */
export const streamStates = (request: StreamRequest<unknown>, deps: EventRouteDeps): Promise<void> =>
  streamChanges(request, deps, {
    first: () => deps.streams.states(request.principal).map((state) => JSON.stringify(state)),
    toJson: (event) => JSON.stringify(event),
  });

interface Changes {
  /** The frames that the stream begins with, as JSON texts. */
  first(): string[] | Promise<string[]>;
  /** Undefined for events that the stream does not show. */
  toJson(event: Change): string | undefined;
  /** Further changes, until the returned function is called. */
  onOther?(listener: (event: Change) => void): () => void;
}

/** Streams changes of all workstreams. A slow client gets the latest event of each type and workstream, and never a backlog. */
export async function streamChanges(
  { exchange: { res, requestId }, principal }: StreamRequest<unknown>,
  { streams, writing, metrics, closing }: EventRouteDeps,
  { first, toJson, onOther }: Changes,
): Promise<void> {
  const waiting = createLatest();
  let pump: () => void = () => undefined;
  // First, so that nothing is missed while the beginning is read.
  const onEvent = (event: Change) => {
    if (waiting.put(event)) metrics.sseCoalesced();
    pump();
  };
  const stops = [streams.onChange({ viewer: principal, onEvent }), onOther?.(onEvent)];
  const stopListening = () => {
    for (const stop of stops) stop?.();
  };
  const opening = await Promise.resolve()
    .then(first)
    .catch((error: unknown) => {
      stopListening();
      throw error;
    });
  if (res.destroyed) return void stopListening();
  const stream = openSse(res, {
    requestId,
    writing,
    until: [principal.ended, closing],
    onReady: () => pump(),
    onEnd() {
      stopListening();
      metrics.sseConnections(-1);
    },
  });
  metrics.sseConnections(1);
  stream.send(RETRY + opening.map((json) => sseFrame(json)).join(''));
  pump = () => {
    if (waiting.size() === 0 || !stream.ready()) return;
    const texts = waiting.takeAll().map(toJson);
    stream.send(texts.map((json) => (json === undefined ? '' : sseFrame(json))).join(''));
  };
  pump();
}

/** The events of the beginning are those of the log, or are not in the log and have no id. */
function toFrames(wsId: string, { id: cursor, json }: Beginning['frames'][number]): string {
  const type = typeOf(json);
  return cursor === undefined
    ? sseFrame(withWorkstream({ wsId, type }, json))
    : toSseFrames({ wsId, cursor, type }, json);
}

/** A class because there are many instances, which share its methods. */
class StreamSink implements Sink {
  readonly #stream: SseStream;
  readonly #wsId: string;

  constructor(stream: SseStream, wsId: string) {
    this.#stream = stream;
    this.#wsId = wsId;
  }

  ready(): boolean {
    return this.#stream.ready();
  }

  write(entries: Parameters<Sink['write']>[0]): void {
    this.#stream.write(entries);
  }

  transient(json: string): void {
    if (this.#stream.ready()) this.#stream.send(toFrames(this.#wsId, { json }));
  }
}
