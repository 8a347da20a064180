import { serveTasks } from '../task-process.ts';
import { type LeanSocket, openSockets, type SocketTarget } from './sockets.ts';

let sockets: LeanSocket[] = [];

const tasks = {
  async open({ count, ...target }: SocketTarget & { count: number }): Promise<void> {
    sockets = await openSockets(target, count);
  },

  async close(_: undefined): Promise<void> {
    await Promise.all(sockets.map((socket) => socket.close()));
    sockets = [];
  },
};

export type IdleTasks = typeof tasks;

serveTasks(tasks);
