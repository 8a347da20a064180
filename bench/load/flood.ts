import { serveTasks } from '../task-process.ts';
import { LeanSocket, type SocketTarget, textFrame } from './sockets.ts';

const REQUEST = textFrame('{"type":"req","id":"f","method":"approval.list","params":{}}');
/** How many requests of the flood are always in flight. */
const UNDER_WAY = 2_000;

let flood: LeanSocket | undefined;

const tasks = {
  /** Opens a connection that sends a new request for each answer or refusal. Resolves after the first refusal. */
  async begin(target: SocketTarget): Promise<void> {
    const socket = await LeanSocket.open(target);
    flood = socket;
    const refused = Promise.withResolvers<void>();
    let answers = 0;
    socket.onText = (payload) => {
      answers += 1;
      if (payload.includes('"code":"RATE_LIMITED"')) refused.resolve();
    };
    socket.onRead = () => {
      socket.write(Buffer.concat(Array<Buffer>(answers).fill(REQUEST)));
      answers = 0;
    };
    socket.write(Buffer.concat(Array<Buffer>(UNDER_WAY).fill(REQUEST)));
    await refused.promise;
  },

  async end(_: undefined): Promise<void> {
    flood?.destroy();
  },
};

export type FloodTasks = typeof tasks;

serveTasks(tasks);
