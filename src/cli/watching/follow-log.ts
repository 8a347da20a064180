import type { Timers } from '../../../protocol/client/timers.ts';
import type { Result } from '../../../protocol/index.ts';

type Tail = Result<'logs.tail'>;

interface FollowDeps {
  /** The lines after a cursor. */
  read(cursor: string): Promise<Tail>;
  timers: Pick<Timers, 'after'>;
  print(lines: readonly string[]): void;
  /** Tells the person something that is not in the log. */
  tell(line: string): void;
}

/** How often the daemon is asked for new lines. */
const EVERY_MS = 500;

/** Prints new lines as they come. Rejects when they can no longer be read; a signal usually ends the program before. */
export async function followLog(from: string, { read, timers, print, tell }: FollowDeps): Promise<never> {
  for (let cursor = from; ; ) {
    await new Promise<void>((resolve) => timers.after(EVERY_MS, resolve));
    const tail = await read(cursor);
    if (tail.reset) tell('The daemon was started again.');
    if (tail.truncated) tell('Some lines are missing: there were too many at once.');
    print(tail.lines);
    cursor = tail.cursor;
  }
}
