import assert from 'node:assert/strict';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { parseCursor } from '../../../protocol/cursor.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { planAsLogged } from '../../checker/as-logged.ts';
import type { DaemonUnderTest } from '../daemon/daemon.ts';
import type { Logged } from '../daemon/ledger.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';
import type { SseFrame, SseReader } from './sse.ts';

/** One workstream's log, read from event streams over any number of connections. */
export interface StreamFollower extends AsyncDisposable {
  readonly seen: Arrivals<Logged>;
  /** The id of the last frame that had one. */
  readonly lastId: string;
  /** Resumes the stream where it broke, and checks that it reports this. */
  resume(): Promise<void>;
}

export async function followStream(daemon: DaemonUnderTest, wsId: string): Promise<StreamFollower> {
  const seen = createArrivals<Logged>();
  let stream = await daemon.sse(wsId);
  let lastId = (await stream.until('history')).id ?? '';
  let failure: StreamEvent | undefined;
  const take = ({ id, data }: SseFrame) => {
    if (id === undefined && data.type === 'ws_state') failure = data; // the `idle` that follows has its id
    if (id === undefined || isOpening(data)) return;
    lastId = id;
    seen.add({ offset: parseCursor(id)?.offset ?? 0, event: failure ?? planAsLogged(data) ?? data });
    failure = undefined;
  };
  let reading = eachFrame(stream, take);
  return {
    seen,
    get lastId() {
      return lastId;
    },
    async resume() {
      await stream.ended;
      await reading;
      stream = await daemon.sse(`/v1/api/events?ws_id=${wsId}&resume=1`, { lastEventId: lastId });
      await stream.until('history');
      const [connected, history] = stream.frames;
      const { type, recovered } = connected?.data ?? {};
      assert.deepEqual(
        [{ id: connected?.id, type, recovered }, history],
        [
          { id: undefined, type: 'connected', recovered: true },
          { id: lastId, data: { type: 'history', ws_id: wsId, messages: [], from: lastId } },
        ],
      );
      reading = eachFrame(stream, take);
    },
    async [Symbol.asyncDispose]() {
      await stream.close();
      await reading;
    },
  };
}

/** The same log, read with the typed WebSocket client, which reconnects automatically. */
export interface SocketFollower {
  readonly seen: Arrivals<Logged>;
  /** The reasons for each time that it could not resume exactly. */
  readonly resets: readonly unknown[];
}

export function followSocket(client: GatewayClient, wsId: string): SocketFollower {
  const seen = createArrivals<Logged>();
  const resets: unknown[] = [];
  client.subscribe(wsId, {
    onSnapshot: ({ messages }) => assert.deepEqual(messages, [], 'follow a workstream from its beginning'),
    onEvent: (event, cursor) => seen.add({ offset: parseCursor(cursor)?.offset ?? 0, event }),
    onReset: (reason) => resets.push(reason),
  });
  return { seen, resets };
}

/** Passes on every frame until the stream ends. */
async function eachFrame(stream: SseReader, take: (frame: SseFrame) => void): Promise<void> {
  let last: SseFrame | undefined;
  for (;;) {
    const next: Promise<SseFrame> = stream.until(() => true, { timeoutMs: 600_000, ...(last && { after: last }) });
    last = await next.catch(() => undefined); // ended
    if (last === undefined) return;
    take(last);
  }
}

/** The initial `history` of a stream; `/resume` adds a similar one to the log, which differs only in its position. */
const isOpening = (event: StreamEvent): boolean => event.type === 'history';
