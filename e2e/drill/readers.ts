import { formatCursor, parseCursor } from '../../protocol/cursor.ts';
import type { EventFrame } from '../../protocol/frames.ts';
import { systemClock } from '../../src/clock.ts';
import type { Random } from '../checker/random.ts';
import type { RecordedSocket } from '../checker/recording/record-socket.ts';
import type { Recorder } from '../checker/recording/recorder.ts';

/** A reader over any number of connections, each resumed where the last one broke. */
export interface Reader {
  /** Reads until the signal, or until the daemon dies: connections break at random bytes and after random times. */
  read(random: Random, signal: AbortSignal): Promise<void>;
  /** Opens a last connection, which stays. */
  stay(): void;
  /** Its current cursor in one workstream. */
  placeIn(wsId: string): string | undefined;
  close(): void;
}

export interface ReaderParts {
  name: string;
  recorder: Recorder;
  /** Called when its connection broke although the daemon was running. */
  onCut(): void;
}

interface Connection {
  ended: Promise<void>;
  close(): void;
}

/** Follows one workstream over event streams. */
export function createStreamReader(parts: ReaderParts, wsId: string): Reader {
  const { recorder, name } = parts;
  let place: string | undefined;
  let connection: Connection | undefined;
  const open = (lastEventId: string | undefined, cutAfterBytes?: number) => {
    connection = recorder.stream({
      reader: name,
      wsId,
      lastEventId,
      cutAfterBytes,
      onFrame({ id }) {
        place = id ?? place;
      },
    });
    return connection;
  };
  return {
    read: (random, signal) =>
      readOn({ ...parts, random, signal }, (cutAfterBytes) => open(askedPlace(random, place), cutAfterBytes)),
    stay: () => void open(place),
    placeIn: () => place,
    close: () => connection?.close(),
  };
}

/** Follows some workstreams over one WebSocket. */
export function createSocketReader(parts: ReaderParts, wsIds: readonly string[]): Reader {
  const { recorder, name } = parts;
  const places = new Map<string, string>();
  let connection: RecordedSocket | undefined;
  const onEvent = ({ event, payload }: EventFrame) => {
    if (event === 'workstream') places.set(Object(payload).wsId, Object(payload).cursor);
  };
  const open = (placeOf: (wsId: string) => string | undefined, cutAfterBytes?: number) => {
    const socket = recorder.socket({ reader: name, cutAfterBytes, onEvent });
    connection = socket;
    void socket.connected.then(() => {
      for (const wsId of wsIds) {
        const after = placeOf(wsId);
        const params = { wsId, ...(after !== undefined && { after }) };
        socket.request('events.subscribe', params, ({ ok, payload }) => {
          if (ok) places.set(wsId, Object(payload).cursor); // refused while the database is away
        });
      }
    });
    return socket;
  };
  const placeIn = (wsId: string) => places.get(wsId);
  return {
    read: (random, signal) =>
      readOn({ ...parts, random, signal }, (cut) => open((wsId) => askedPlace(random, placeIn(wsId)), cut)),
    stay: () => void open(placeIn),
    placeIn,
    close: () => connection?.close(),
  };
}

interface Reading extends ReaderParts {
  random: Random;
  signal: AbortSignal;
}

/** One connection after the other. */
async function readOn({ random, signal, onCut }: Reading, open: (cutAfterBytes?: number) => Connection): Promise<void> {
  while (!signal.aborted) {
    const connection = open(random.chance(0.7) ? bytesOf(random) : undefined);
    const patience = random.chance(0.5) ? random.int(5, 500) : 60_000;
    await Promise.race([connection.ended, systemClock.sleep(patience, signal).catch(() => undefined)]);
    // A reader may disconnect early; otherwise the kill of the daemon ends the connection.
    if (!signal.aborted) connection.close();
    await connection.ended;
    if (signal.aborted) return;
    onCut();
    await systemClock.sleep(random.int(0, 60), signal).catch(() => undefined);
  }
}

/** From 100 bytes, which is within the headers, to 60 kB. */
const bytesOf = (random: Random): number => Math.round(100 * 600 ** random.fraction());

/** Mostly its last position; sometimes the beginning, or a position that never existed. */
function askedPlace(random: Random, place: string | undefined): string | undefined {
  const whim = random.fraction();
  if (whim < 0.04) return undefined;
  if (whim < 0.06) return 'elsewhere:7';
  const cursor = parseCursor(place);
  return whim < 0.08 && cursor ? formatCursor({ ...cursor, offset: cursor.offset + 1_000_000 }) : place;
}
