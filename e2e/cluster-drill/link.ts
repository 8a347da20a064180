import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { systemTimers } from '../../protocol/client/timers.ts';

/** As seen from the program that connects. */
export type Way = 'out' | 'back';

/** A TCP proxy between two programs, which can be slow, silent or cut, as a network can. */
export interface Link extends Disposable {
  readonly port: number;
  /** Where its connections go; a daemon knows its own port only after it has started. */
  leadTo(port: number): void;
  /** When a connection with this local port began to go through here, for `performance.now()`; undefined: none did. */
  usedAt(port: number): number | undefined;
  /** Ends all connections, and refuses new ones until `heal`. */
  cut(): void;
  /** No data passes until `heal`, and nobody is notified. */
  stall(ways: readonly Way[]): void;
  /** All data comes this much later. */
  slow(ms: number): void;
  /** Everything passes again, at once, including data that was held. */
  heal(): void;
}

interface Weather {
  isCut: boolean;
  stalled: ReadonlySet<Way>;
  delayMs: number;
}

interface Pair {
  client: Socket;
  server: Socket;
  flows: { pump(): void }[];
}

/** Listens on a free port of this address, and leads to a port of this machine. */
export async function openLink(host = '127.0.0.1'): Promise<Link> {
  const weather: Weather = { isCut: false, stalled: new Set(), delayMs: 0 };
  const pairs = new Set<Pair>();
  const ports = new Map<number, number>();
  let target = 0;
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (weather.isCut) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    server.on('connect', () => ports.set(server.localPort ?? 0, performance.now()));
    const pair: Pair = {
      ...{ client, server },
      flows: [
        flow({ from: client, to: server, way: 'out' }, weather),
        flow({ from: server, to: client, way: 'back' }, weather),
      ],
    };
    pairs.add(pair);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        if (client.destroyed && server.destroyed) pairs.delete(pair);
      });
    }
  });
  listener.listen(0, host);
  await once(listener, 'listening');
  const pumpAll = () => {
    for (const { flows } of pairs) for (const one of flows) one.pump();
  };
  const endAll = () => {
    for (const { client, server } of pairs) for (const socket of [client, server]) socket.destroy();
  };
  return {
    port: (listener.address() as AddressInfo).port, // it listens on a port
    leadTo(port) {
      target = port;
    },
    usedAt: (port) => ports.get(port),
    cut() {
      weather.isCut = true;
      endAll();
    },
    stall(ways) {
      weather.stalled = new Set(ways);
    },
    slow(ms) {
      weather.delayMs = ms;
    },
    heal() {
      Object.assign(weather, { isCut: false, stalled: new Set(), delayMs: 0 });
      pumpAll();
    },
    [Symbol.dispose]() {
      listener.close();
      endAll();
    },
  };
}

const MOST_HELD = 256;

/** Passes data on, in order, with its end. */
function flow({ from, to, way }: { from: Socket; to: Socket; way: Way }, weather: Weather) {
  /** `undefined` is the end. */
  const held: { chunk: Buffer | undefined; dueMs: number }[] = [];
  let isWaiting = false;
  const pass = (chunk: Buffer | undefined) => (chunk === undefined ? to.end() : to.write(chunk));
  const pump = () => {
    while (held[0] !== undefined && !weather.stalled.has(way)) {
      const waitMs = weather.delayMs === 0 ? 0 : held[0].dueMs - performance.now();
      if (waitMs > 0) {
        waitFor(waitMs);
        break;
      }
      pass(held.shift()?.chunk);
    }
    if (held.length < MOST_HELD) from.resume();
  };
  const waitFor = (ms: number) => {
    if (isWaiting) return;
    isWaiting = true;
    systemTimers.after(ms, () => {
      isWaiting = false;
      pump();
    });
  };
  const take = (chunk?: Buffer) => {
    held.push({ chunk, dueMs: performance.now() + weather.delayMs });
    if (held.length >= MOST_HELD) from.pause();
    pump();
  };
  from.on('data', take);
  from.on('end', () => take());
  return { pump };
}
