import { spawn } from 'node:child_process';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import { StartError } from '../../start-error.ts';
import {
  type AskedAddress,
  type Checked,
  type FromPredecessor,
  HANDOVER_VARIABLE,
  toSuccessorMessage,
} from './handover-messages.ts';

/** How a process ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The process that takes over from this one. It has checked what it can, and waits. */
export interface Successor {
  readonly pid: number;
  readonly version: string;
  readonly migration: Checked['migration'];
  /** Undefined while it runs. */
  readonly ended: Exit | undefined;
  /** Resolves when it has ended. */
  readonly exited: Promise<Exit>;
  /** Resolves when it serves; rejects with its words if it ends before. */
  readonly serving: Promise<void>;
  tell(type: FromPredecessor['type']): void;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when this process can end before it. */
  leave(): Promise<void>;
}

/** The part of a child process that is used, so that tests can play it. */
export interface Child {
  readonly pid?: number | undefined;
  readonly connected: boolean;
  kill(signal: NodeJS.Signals): boolean;
  send(message: FromPredecessor, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/** Starts the program that is installed now, with the arguments and the environment of this process. */
export function spawnSuccessor({ descriptor, asked, ...command }: SpawnOptions): Child {
  return spawn(command.program, [...command.words], {
    stdio: ['ignore', 'inherit', 'inherit', descriptor, 'ipc'],
    env: { ...command.environment, [HANDOVER_VARIABLE]: JSON.stringify(asked) },
  });
}

interface SpawnOptions {
  program: string;
  words: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  /** The listening socket. */
  descriptor: number;
  asked: AskedAddress;
}

/** Long enough for a slow machine; meanwhile, the daemon serves as before. */
const CHECK_MS = 60_000;

/** Waits until the successor has checked what it can. Rejects with StartError, and ends it, if it refuses or is too slow. */
export async function untilChecked(
  child: Child,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Successor> {
  const heard = listenTo(child);
  const done = new AbortController();
  const onStop = () => heard.fail('the daemon is stopping');
  signal.addEventListener('abort', onStop);
  clock.sleep(CHECK_MS, done.signal).then(
    () => heard.fail(`it was not ready within ${CHECK_MS / 1000} s`),
    () => undefined, // it was ready in time
  );
  try {
    const { version, migration } = await heard.checked.promise;
    return {
      pid: child.pid ?? 0,
      version,
      migration,
      get ended() {
        return heard.ended();
      },
      exited: heard.exited.promise,
      serving: heard.serving.promise,
      tell: (type) => void (child.connected && child.send({ type }, () => undefined)), // its end is noticed otherwise
      kill: (name) => void child.kill(name),
      leave: () =>
        new Promise((resolve) => {
          if (child.connected) child.send({ type: 'leave' }, () => resolve());
          else resolve();
        }),
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    done.abort();
    signal.removeEventListener('abort', onStop);
  }
}

/** What the successor says, and how it ends. */
function listenTo(child: Child) {
  const checked = Promise.withResolvers<Checked>();
  const serving = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<Exit>();
  serving.promise.catch(() => undefined); // it may end before anybody waits
  let why: string | undefined;
  let ended: Exit | undefined;
  let isCut = false;
  const fail = (words: string) => {
    for (const each of [checked, serving]) each.reject(new StartError(words));
  };
  // The channel may still hold its last words when it has ended.
  const look = () => {
    if (ended === undefined || !isCut) return;
    fail(why ?? `it ended with ${ended.code === null ? ended.signal : `exit code ${ended.code}`}`);
    exited.resolve(ended);
  };
  child.on('message', (received: unknown) => {
    const message = toSuccessorMessage(received);
    if (message?.type === 'checked') checked.resolve(message);
    else if (message?.type === 'serving') serving.resolve();
    else if (message?.type === 'refused') why = message.why;
  });
  child.once('error', (error) => fail(`it cannot be started: ${wordsOf(error)}`));
  child.once('exit', (code, signal) => {
    ended = { code, signal };
    look();
  });
  child.once('disconnect', () => {
    isCut = true;
    look();
  });
  return { checked, serving, exited, fail, ended: () => ended };
}
