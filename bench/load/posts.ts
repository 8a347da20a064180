import { serveTasks } from '../task-process.ts';
import { HttpConnection } from './http-connection.ts';

let connections: HttpConnection[] = [];

const tasks = {
  async open({ port, count }: { port: number; count: number }): Promise<void> {
    connections = Array.from({ length: count }, () => new HttpConnection(port));
  },

  /** Sends the same request over and over, one at a time per connection; answers how many were answered with 200. */
  async run({ request, each }: { request: string; each: number }): Promise<number> {
    const bytes = Buffer.from(request);
    await Promise.all(
      connections.map(async (connection) => {
        for (let n = 0; n < each; n += 1) await connection.send(bytes);
      }),
    );
    return connections.length * each;
  },
};

export type PostTasks = typeof tasks;

serveTasks(tasks);
