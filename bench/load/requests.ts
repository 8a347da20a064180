import { serveTasks } from '../task-process.ts';
import { type LeanSocket, openSockets, type SocketTarget, textFrame } from './sockets.ts';

let sockets: LeanSocket[] = [];

const tasks = {
  async open({ count, ...target }: SocketTarget & { count: number }): Promise<void> {
    sockets = await openSockets(target, count);
  },

  /** Sends `each` requests per socket, at most `depth` in flight. Returns how many were answered. */
  async run({ depth, each }: { depth: number; each: number }): Promise<number> {
    const requests = createRequests(each);
    await Promise.all(sockets.map((socket) => ask(socket, { depth, each, requests })));
    return sockets.length * each;
  },

  async close(_: undefined): Promise<void> {
    await Promise.all(sockets.map((socket) => socket.close()));
  },
};

export type RequestTasks = typeof tasks;

interface Requests {
  bytes: Buffer;
  /** Where each request starts, and where the last one ends. */
  starts: number[];
}

/** Requests whose answer is as small as an echo. */
function createRequests(count: number): Requests {
  const frames = Array.from({ length: count }, (_, n) =>
    textFrame(`{"type":"req","id":"${n}","method":"approval.list","params":{}}`),
  );
  const starts = [0];
  for (const frame of frames) starts.push((starts.at(-1) ?? 0) + frame.length);
  return { bytes: Buffer.concat(frames), starts };
}

/** After each read, sends as many new requests as answers arrived, in one write. */
function ask(socket: LeanSocket, { depth, each, requests }: { depth: number; each: number; requests: Requests }) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sent = 0;
  let answered = 0;
  const sendUpTo = (end: number) => {
    if (end > sent) socket.write(requests.bytes.subarray(requests.starts[sent], requests.starts[end]));
    sent = Math.max(sent, end);
  };
  socket.onText = (payload) => {
    if (payload[11] !== RESPONSE) return; // an event
    answered += 1;
    if (payload.includes('"ok":false')) reject(new Error(payload.toString()));
  };
  socket.onRead = () => {
    if (answered === each) resolve();
    else sendUpTo(Math.min(each, answered + depth));
  };
  sendUpTo(Math.min(each, depth));
  return promise;
}

/** `{"type":"res"` and `{"type":"event"` differ here. */
const RESPONSE = 's'.charCodeAt(0);

serveTasks(tasks);
