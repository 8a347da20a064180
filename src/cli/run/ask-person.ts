import type { Key } from 'node:readline';
import type { ReadStream } from 'node:tty';
import { enterRawTerminal } from '../terminal/raw-terminal.ts';

export type Verdict = 'approve' | 'deny' | 'interrupt';

interface AskDeps {
  input: ReadStream;
  write(text: string): void;
  /** Prints the question in full. */
  showAll(): void;
  /** Aborts when the question is decided elsewhere or the run ends. */
  signal: AbortSignal;
}

/** Waits for one key: y, n or Ctrl-C; `v` shows the whole question first. Undefined if the signal aborts. */
export async function askPerson({ input, write, showAll, signal }: AskDeps): Promise<Verdict | undefined> {
  if (signal.aborted) return undefined;
  const { promise, resolve } = Promise.withResolvers<Verdict | undefined>();
  const onKey = (text: string | undefined, { ctrl, name }: Key) => {
    if (ctrl === true && name === 'c') resolve('interrupt');
    else if (text === 'v') {
      write('\n');
      showAll();
      write(PROMPT);
    } else if (text === 'y' || text === 'n') resolve(text === 'y' ? 'approve' : 'deny');
  };
  const onAbort = () => resolve(undefined);
  write(PROMPT);
  const terminal = enterRawTerminal({ input, write, onKey, onPaste: () => undefined });
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    terminal.leave();
    write('\n');
  }
}

const PROMPT = 'y approve · n deny · v view all: ';
