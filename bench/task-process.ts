import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { within } from '../e2e/support/deadline.ts';

/** The tasks of a process of the benchmark. */
export type Tasks = Record<string, (input: never) => Promise<unknown>>;

/** A process that runs tasks. Load must run neither in the measuring process nor in the measured one. */
export interface TaskProcess<T extends Tasks> extends AsyncDisposable {
  readonly pid: number;
  ask<N extends keyof T & string>(name: N, input: Parameters<T[N]>[0]): Promise<Awaited<ReturnType<T[N]>>>;
}

/** If a task takes longer, an answer was lost. */
const LONGEST_MS = 60_000;

interface Question {
  id: number;
  name: string;
  input: unknown;
}

type Answer = { id: number; result: unknown } | { id: number; failure: string };

/** Called in the other process: runs tasks until the parent process has ended. */
export function serveTasks(tasks: Tasks): void {
  process.on('message', async ({ id, name, input }: Question) => {
    const task = tasks[name];
    try {
      // The generic seam: the type of `ask` makes name and input fit.
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
  // Without Node's own options: inside a test, those are the runner's, and its report would be written twice.
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
      asker.promise.catch(() => undefined); // the caller may have failed for another reason
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
