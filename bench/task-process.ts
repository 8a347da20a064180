import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { within } from '../e2e/support/deadline.ts';

/** What a process of the benchmark can be asked to do. */
export type Tasks = Record<string, (input: never) => Promise<unknown>>;

/** Another process that does tasks: load must not run in the process that measures, nor in the one that is measured. */
export interface TaskProcess<T extends Tasks> extends AsyncDisposable {
  readonly pid: number;
  ask<N extends keyof T & string>(name: N, input: Parameters<T[N]>[0]): Promise<Awaited<ReturnType<T[N]>>>;
}

/** What takes longer has lost an answer. */
const LONGEST_MS = 60_000;

interface Question {
  id: number;
  name: string;
  input: unknown;
}

type Answer = { id: number; result: unknown } | { id: number; failure: string };

/** In the other process: does what it is asked until the asking process is gone. */
export function serveTasks(tasks: Tasks): void {
  process.on('message', async ({ id, name, input }: Question) => {
    const task = tasks[name];
    try {
      // The generic seam: `ask` has checked that name and input fit.
      const result = await task?.(input as never);
      process.send?.({ id, result } satisfies Answer);
    } catch (error) {
      process.send?.({ id, failure: error instanceof Error ? String(error.stack) : String(error) } satisfies Answer);
    }
  });
  process.once('disconnect', () => process.exit());
}

/** Starts the file, which calls `serveTasks` with tasks of type T. */
export function startTasks<T extends Tasks>(file: URL): TaskProcess<T> {
  // Not what node was started with: inside a test, that is the runner's options, and its report would be written twice.
  const child = fork(file, { serialization: 'advanced', execArgv: [] });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let asked = 0;
  child.on('message', (answer: Answer) => {
    const asker = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('failure' in answer) asker?.reject(new Error(answer.failure));
    else asker?.resolve(answer.result);
  });
  child.once('exit', (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended with ${code ?? signal}`));
  });
  return {
    pid: child.pid ?? 0,
    ask(name, input) {
      const id = ++asked;
      const asker = Promise.withResolvers<unknown>();
      waiting.set(id, asker);
      asker.promise.catch(() => undefined); // whoever asked may have given up for another reason
      child.send({ id, name, input } satisfies Question);
      return within(asker.promise, LONGEST_MS, () => `the task ${name} of ${file}`) as never; // see above
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
