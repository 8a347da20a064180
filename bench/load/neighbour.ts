import { serveTasks } from '../task-process.ts';
import { LeanSocket, type SocketTarget } from './sockets.ts';

const tasks = {
  /** Sends one request after the other, over several connections in turn. Returns the wait of each in milliseconds. */
  async ask({ count, each, ...target }: SocketTarget & { count: number; each: number }): Promise<number[]> {
    const waits: number[] = [];
    for (let opened = 0; opened < count; opened += 1) {
      const socket = await LeanSocket.open(target);
      for (let n = 0; n < each; n += 1) {
        const begunMs = performance.now();
        await socket.request('approval.list', {});
        waits.push(performance.now() - begunMs);
      }
      await socket.close();
    }
    return waits;
  },
};

export type NeighbourTasks = typeof tasks;

serveTasks(tasks);
