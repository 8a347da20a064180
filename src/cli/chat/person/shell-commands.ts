import { type ChildProcess, spawn } from 'node:child_process';
import { toSafeText } from '../../terminal/safe-text.ts';

/** A command of the person that runs. */
export interface RunningShell {
  command: string;
  /** The end of its output. */
  output: string;
}

export interface ShellEnd {
  command: string;
  /** The end of its output, without control characters. */
  output: string;
  /** How it ended, for people. */
  words: string;
  isDone: boolean;
}

/** Of the output, the end is kept: models and people read it. */
const KEPT_CHARS = 30_000;

/** Whether a line is a command of the person: `!make test`. */
export const isShellLine = (line: string): boolean => /^!\s*\S/.test(line);

/** Runs commands of the person in a folder of this machine, one at a time. */
export class ShellCommands {
  readonly #onChange: () => void;
  #child: ChildProcess | undefined;
  #isStopping = false;
  current: RunningShell | undefined;

  /** `onChange` is called when there is more output. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Runs `!COMMAND` and resolves when it has ended. Rejects if it could not be started. */
  async run(line: string, { workdir, shell }: { workdir: string; shell: string }): Promise<ShellEnd> {
    const command = line.slice(1).trim();
    const running = { command, output: '' };
    let leftOut = 0;
    // A group of its own, so that everything that it starts ends with it.
    const child = spawn(shell, ['-c', command], { cwd: workdir, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    [this.#child, this.current, this.#isStopping] = [child, running, false];
    const add = (chunk: string) => {
      const text = running.output + chunk;
      running.output = text.slice(-KEPT_CHARS);
      leftOut += text.length - running.output.length;
      this.#onChange();
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', add);
    const ended = Promise.withResolvers<[code: number | null, signal: string | null]>();
    child.once('error', ended.reject).once('close', (code, signal) => ended.resolve([code, signal]));
    try {
      const [code, signal] = await ended.promise;
      const cut = leftOut === 0 ? '' : `(${leftOut} earlier characters left out)\n`;
      const words = signal === null ? `exit code ${code}` : `ended by ${signal}`;
      return { command, output: cut + toSafeText(running.output).trimEnd(), words, isDone: code === 0 };
    } finally {
      [this.#child, this.current] = [undefined, undefined];
      this.#onChange();
    }
  }

  /** Ends the command that runs; one that has not ended since the last time is killed. False if none runs. */
  stop(): boolean {
    const pid = this.#child?.pid;
    if (pid === undefined) return false;
    try {
      process.kill(-pid, this.#isStopping ? 'SIGKILL' : 'SIGTERM');
    } catch {
      // it has just ended
    }
    this.#isStopping = true;
    return true;
  }
}

/** The output as the file that goes with the next message. */
export const toOutputFile = ({ command, output, words }: ShellEnd): File =>
  new File([`$ ${command}\n${output}\n(${words})\n`], `output of ${/^[\w.-]+/.exec(command)?.[0] ?? 'command'}.txt`);
