import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
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
  /** The exit code of the program. */
  exited: Promise<number | null>;
}

interface TerminalOptions {
  /** The launcher of another build. */
  entry?: string;
  /** Of `headgate`. */
  args: readonly string[];
  env: Record<string, string>;
  columns?: number;
  rows?: number;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs `headgate` in a terminal created by `script` of util-linux. The bundle must exist, for example because a daemon was started. */
export function openTerminal({
  entry = 'bin/headgate.js',
  args,
  env,
  columns = 80,
  rows = 24,
}: TerminalOptions): TerminalUnderTest {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 20_000, allowProposedApi: true });
  const command = [process.execPath, entry, ...args].map((word) => `'${word}'`).join(' ');
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
    exited,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL'); // its terminal closes with it, which ends the program
      await exited;
    },
  };
}
