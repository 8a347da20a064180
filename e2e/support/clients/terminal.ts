import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readlink } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import xterm from '@xterm/headless';
import { within } from '../deadline.ts';
import { toTerminalSvg } from './terminal-picture.ts';

/** A program in a pseudo terminal, and its screen. */
export interface TerminalUnderTest extends AsyncDisposable {
  /** The rows of the screen and above it, without trailing blanks. */
  rows(): string[];
  /** Resolves with the rows once they match. */
  until(fits: (rows: string[]) => boolean, what: string): Promise<string[]>;
  /** Types keys as a terminal sends them: `\r` is Enter, `\x03` Ctrl-C. */
  type(keys: string): void;
  /** The text that the program sent to the clipboard last (OSC 52). */
  clipboard(): string | undefined;
  /** The screen as an SVG. */
  picture(): string;
  /** Everything that the program printed so far. */
  raw(): string;
  /** The images that the program drew as sixels. */
  sixels(): readonly string[];
  /** Makes the window wider or narrower, as a person does with a mouse. */
  resize(columns: number): Promise<void>;
  /** The exit code of the program. */
  exited: Promise<number | null>;
}

interface Window {
  env: Record<string, string>;
  columns?: number;
  rows?: number;
}

interface TerminalOptions extends Window {
  /** The launcher of another build. */
  entry?: string;
  /** Of `headgate`. */
  args: readonly string[];
}

interface ProgramOptions extends Window {
  /** The program and its arguments. */
  words: readonly string[];
}

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs `headgate` in a terminal. The bundle must exist, for example because a daemon was started. */
export const openTerminal = ({ entry = 'bin/headgate.js', args, ...window }: TerminalOptions): TerminalUnderTest =>
  openProgram({ words: [process.execPath, entry, ...args], ...window });

/** Runs a program in a terminal created by `script` of util-linux. */
export function openProgram({ words, env, columns = 80, rows = 24 }: ProgramOptions): TerminalUnderTest {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 20_000, allowProposedApi: true });
  const command = toShellWords(words);
  const child = spawn('script', ['-qfec', `stty cols ${columns} rows ${rows}; exec ${command}`, '/dev/null'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', TERM: 'xterm-256color', NODE_V8_COVERAGE: undefined, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lookers = new Set<() => void>();
  let clipboard: string | undefined;
  terminal.parser.registerOscHandler(52, (data) => {
    clipboard = Buffer.from(data.replace(/^c;/, ''), 'base64').toString();
    return true;
  });
  const sixels: string[] = [];
  terminal.parser.registerDcsHandler({ final: 'q' }, (data) => {
    sixels.push(data);
    return true;
  });
  const printed: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => {
    printed.push(bytes);
    terminal.write(bytes, () => {
      for (const look of [...lookers]) look();
    });
  });
  const exited = once(child, 'close').then(([code]): number | null => code);
  const read = () => {
    const buffer = terminal.buffer.active;
    const all = Array.from(
      { length: buffer.length },
      (_, row) => buffer.getLine(row)?.translateToString().trimEnd() ?? '',
    );
    return all.slice(0, all.findLastIndex((row) => row !== '') + 1);
  };
  return {
    rows: read,
    async until(fits, what) {
      const seen = Promise.withResolvers<string[]>();
      const look = () => {
        const shown = read();
        if (fits(shown)) seen.resolve(shown);
      };
      lookers.add(look);
      look();
      const told = () => `${what} on the screen:\n${read().slice(-rows).join('\n')}`;
      return within(seen.promise, 60_000, told).finally(() => lookers.delete(look));
    },
    clipboard: () => clipboard,
    picture: () => toTerminalSvg(terminal),
    raw: () => Buffer.concat(printed).toString(),
    sixels: () => sixels,
    type: (keys) => void child.stdin.write(keys),
    async resize(columns) {
      terminal.resize(columns, rows);
      await run('stty', ['-F', await terminalOf(child.pid), 'cols', String(columns)]);
    },
    exited,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL'); // its terminal closes with it, which ends the program
      await exited;
    },
  };
}

/** The words as a POSIX shell takes them, unchanged. */
export const toShellWords = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');

/** The device of the terminal that `script` made for its child. */
async function terminalOf(script: number | undefined): Promise<string> {
  const [child] = (await readFile(`/proc/${script}/task/${script}/children`, 'utf8')).split(' ');
  return readlink(`/proc/${child}/fd/0`);
}
