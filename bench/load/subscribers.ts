import { connect, type Socket } from 'node:net';
import { serveTasks } from '../task-process.ts';
import { getText, HttpConnection } from './http-connection.ts';
import { type LeanSocket, openSockets, type SocketTarget } from './sockets.ts';

/** How many events all subscribers together have received. */
let arrived = 0;
let wanted: { count: number; reached(): void } = { count: Number.POSITIVE_INFINITY, reached: () => undefined };
let sample = '';
let sockets: LeanSocket[] = [];
let stalled: LeanSocket[] = [];
const streams: Socket[] = [];

const tasks = {
  /** Opens sockets and subscribes them to `topics`, if the server requires that. */
  async openSockets({
    count,
    topics,
    ...target
  }: SocketTarget & { count: number; topics: readonly string[] }): Promise<void> {
    sockets = await openSockets(target, count);
    for (const socket of sockets) {
      for (const wsId of topics) await socket.request('events.subscribe', { wsId });
      socket.onText = onText;
    }
  },

  /** Opens sockets that subscribe to `topics` and then stop reading. */
  async openStalled({
    count,
    topics,
    ...target
  }: SocketTarget & { count: number; topics: readonly string[] }): Promise<void> {
    stalled = await openSockets(target, count);
    for (const socket of stalled) {
      for (const wsId of topics) await socket.request('events.subscribe', { wsId });
      socket.stall();
    }
  },

  async endStalled(_: undefined): Promise<void> {
    for (const socket of stalled) socket.destroy();
  },

  /** Opens event streams of one path. */
  async openStreams({ port, path, token, count }: { port: number; path: string; token: string; count: number }) {
    const request = getText(path, token);
    while (streams.length < count) streams.push(await openStream(port, request));
  },

  /** Sends all requests at once, `times` times, and waits each time until every subscriber has all events. */
  async publish({ port, requests, times }: { port: number; requests: string[]; times: number }): Promise<number> {
    const publishers = requests.map((request) => ({ request, connection: new HttpConnection(port) }));
    const perTime = requests.length * (sockets.length + streams.length);
    arrived = 0;
    for (let time = 1; time <= times; time += 1) {
      const all = until(time * perTime);
      const answers = publishers.map(({ request, connection }) => connection.send(request));
      await Promise.all([all, ...answers]);
    }
    for (const { connection } of publishers) connection.close();
    return times * perTime;
  },

  /** The text of an event. */
  sample: async (_: undefined): Promise<string> => sample,
};

export type SubscriberTasks = typeof tasks;

function until(count: number): Promise<void> {
  return new Promise((resolve) => {
    wanted = { count, reached: resolve };
  });
}

function arrive(count: number): void {
  arrived += count;
  if (arrived >= wanted.count) wanted.reached();
}

/** The first letter of its name distinguishes `{"type":"event","event":"workstream"` from other events. */
const NAME_AT = '{"type":"event","event":"'.length;
const WORKSTREAM = 'w'.charCodeAt(0);

function onText(payload: Buffer): void {
  if (payload[NAME_AT] !== WORKSTREAM) return;
  if (arrived === 0) sample = payload.toString();
  arrive(1);
}

const EVENT = '\ndata: {"type":"info"';

async function openStream(port: number, request: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  const opened = Promise.withResolvers<void>();
  let rest = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    opened.resolve();
    const all = rest + text;
    if (arrived === 0) sample = all;
    const events = all.split(EVENT).length - 1;
    rest = all.slice(-(EVENT.length - 1)); // too short to be counted twice
    if (events > 0) arrive(events);
  });
  socket.on('error', (error) => opened.reject(error));
  socket.write(request);
  await opened.promise;
  return socket;
}

serveTasks(tasks);
