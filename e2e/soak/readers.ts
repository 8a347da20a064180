import { WebSocket } from 'ws';
import type { StreamMessage } from '../../protocol/client/event-stream.ts';
import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import { parseCursor } from '../../protocol/cursor.ts';
import { STREAM_EVENTS, type StreamEvent } from '../../protocol/stream-events.ts';
import { type Arrivals, createArrivals } from '../support/clients/arrivals.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import type { Logged } from '../support/daemon/ledger.ts';

/** Follows one workstream until it is stopped. `seen` contains each received event once. */
export interface Reader {
  readonly seen: Arrivals<Logged>;
  /** Resolves when the reader knows its position in the log; it receives all later events. */
  ready: Promise<void>;
  /** Resolves when all its connections are closed; rejects if there was a failure. */
  stop(): Promise<void>;
}

/** Time between two cuts of a reader's connection; resolves early when the signal aborts. */
export type Patience = (signal: AbortSignal) => Promise<void>;

/** Reads over SSE; disconnects after its patience and resumes by cursor. Without patience it stays connected. */
export function readStream(daemon: DaemonUnderTest, wsId: string, patience?: Patience): Reader {
  const seen = createArrivals<Logged>();
  const ready = Promise.withResolvers<void>();
  const stopped = new AbortController();
  let after: string | undefined;
  const readOnce = async (signal: AbortSignal) => {
    let failed: StreamEvent | undefined;
    for await (const { id, event } of daemon.http.events(wsId, { signal, after })) {
      checkResumed(event, after);
      if (isFailure(event)) failed = event;
      if (id === undefined) continue;
      if (isLogged(event)) seen.add({ offset: offsetOf(id), event: afterFailure(event, failed) });
      failed = undefined;
      after = id;
      ready.resolve();
    }
  };
  const work = async () => {
    while (!stopped.signal.aborted) {
      const cut = new AbortController();
      const signal = AbortSignal.any([stopped.signal, cut.signal]);
      const reading = readOnce(signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (patience) await Promise.race([patience(signal), reading]);
      else await reading;
      cut.abort();
      await reading;
    }
  };
  const working = work();
  working.catch(ready.reject); // `stop` reports it, too
  return {
    seen,
    ready: ready.promise,
    async stop() {
      stopped.abort();
      await working;
    },
  };
}

/** Reads over a WebSocket, which is cut after its patience; the client resumes. */
export function readSocket(daemon: DaemonUnderTest, wsId: string, patience: Patience): Reader {
  const seen = createArrivals<Logged>();
  const ready = Promise.withResolvers<void>();
  const stopped = new AbortController();
  const problems: string[] = [];
  const sockets: WebSocket[] = [];
  class TornSocket extends WebSocket {
    constructor(url: string) {
      super(url);
      sockets.splice(0, sockets.length, this);
    }
  }
  const client = createGatewayClient({
    url: daemon.wsUrl,
    token: daemon.token,
    client: { name: 'soak', version: '1', mode: 'test' },
    WebSocket: TornSocket,
  });
  client.subscribe(wsId, {
    onSnapshot: () => ready.resolve(),
    onEvent: (event, cursor) => seen.add({ offset: offsetOf(cursor), event }),
    onReset: (reason) => problems.push(`the subscription could not be resumed: ${reason}`),
    onError: (error) => problems.push(`the subscription was refused: ${error}`),
  });
  const work = async () => {
    await client.connect();
    while (!stopped.signal.aborted) {
      await patience(stopped.signal);
      for (const socket of sockets) socket.terminate();
    }
  };
  const working = work();
  working.catch(ready.reject); // `stop` reports it, too
  return {
    seen,
    ready: ready.promise,
    async stop() {
      stopped.abort();
      client.close();
      await working;
      if (problems.length > 0) throw new Error(problems.join('; '));
    },
  };
}

const offsetOf = (cursor: string): number => parseCursor(cursor)?.offset ?? 0;

/** Whether a frame is a log event; the initial `history` of a stream looks like one. */
const isLogged = (event: StreamMessage['event']): event is StreamEvent =>
  event.type !== 'history' && Object.hasOwn(STREAM_EVENTS, event.type);

function checkResumed(event: StreamMessage['event'], after: string | undefined): void {
  if (event.type === 'connected' && after !== undefined && event.recovered !== true)
    throw new Error(`the stream could not be resumed: ${event.reason}`);
}

const isFailure = (event: StreamMessage['event']): event is StreamEvent =>
  event.type === 'ws_state' && 'state' in event && event.state === 'error';

/** The end of a failed run comes without an id; its id is that of the idle state sent after it. */
const afterFailure = (event: StreamEvent, failed: StreamEvent | undefined): StreamEvent =>
  event.type === 'ws_state' && failed ? failed : event;
