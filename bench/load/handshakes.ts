import { serveTasks } from '../task-process.ts';
import { LeanSocket, type SocketTarget } from './sockets.ts';

const tasks = {
  /** Connects, completes the handshake and closes, `count` times, 16 at once. */
  async run({ count, ...target }: SocketTarget & { count: number }): Promise<number> {
    let begun = 0;
    const shake = async () => {
      while (begun < count) {
        begun += 1;
        const socket = await LeanSocket.open(target);
        await socket.close();
      }
    };
    await Promise.all(Array.from({ length: 16 }, shake));
    return count;
  },
};

export type HandshakeTasks = typeof tasks;

serveTasks(tasks);
