import { serveTasks } from '../task-process.ts';
import { HttpConnection } from './http-connection.ts';

const tasks = {
  /** Sends the same request repeatedly, one at a time per connection. Returns how many were answered with 200. */
  async run({ port, request, connections, each }: Posts): Promise<number> {
    const bytes = Buffer.from(request);
    const send = async () => {
      const connection = new HttpConnection(port);
      for (let n = 0; n < each; n += 1) await connection.send(bytes);
      connection.close();
    };
    await Promise.all(Array.from({ length: connections }, send));
    return connections * each;
  },

  /** How long each answer took, in ms, one request after the other. */
  async time({ port, request, each }: Omit<Posts, 'connections'>): Promise<number[]> {
    const bytes = Buffer.from(request);
    const connection = new HttpConnection(port);
    const tookMs: number[] = [];
    while (tookMs.length < each) {
      const sentMs = performance.now();
      await connection.send(bytes);
      tookMs.push(performance.now() - sentMs);
    }
    connection.close();
    return tookMs;
  },
};

interface Posts {
  port: number;
  request: string;
  connections: number;
  each: number;
}

export type PostTasks = typeof tasks;

serveTasks(tasks);
