import { serveTasks } from '../task-process.ts';
import { HttpConnection, postText } from './http-connection.ts';

let storming: Promise<unknown> = Promise.resolve();
let isOver = false;
let done = 0;

const tasks = {
  /** Logs in over all connections at once, again and again, each time as another user. */
  async begin({ port, atOnce, users, password }: Storm): Promise<void> {
    [isOver, done] = [false, 0];
    const logIn = async (_: unknown, first: number) => {
      const connection = new HttpConnection(port);
      for (let n = first; !isOver; n += atOnce) {
        await connection.send(postText('/v1/api/auth/login', { username: `user-${n % users}`, password }));
        done += 1;
      }
      connection.close();
    };
    storming = Promise.all(Array.from({ length: atOnce }, logIn));
    storming.catch(() => undefined); // reported by `end`
  },

  /** Returns how many have logged in. */
  async end(_: undefined): Promise<number> {
    isOver = true;
    await storming;
    return done;
  },
};

interface Storm {
  port: number;
  atOnce: number;
  users: number;
  password: string;
}

export type LoginTasks = typeof tasks;

serveTasks(tasks);
