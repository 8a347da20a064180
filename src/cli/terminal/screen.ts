import type { Timers } from '../../../protocol/client/timers.ts';
import { countRows, toRows } from './wrap.ts';

/** The output. Printed lines stay; the live view below them is redrawn whenever it changes. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  print(lines: readonly string[]): void;
  /** Erases the last `count` lines. False if they have scrolled away. */
  retract(count: number): boolean;
  /** Call when the live view has changed. */
  invalidate(): void;
  /** Like `invalidate`, after a key: the view is drawn without waiting for the next frame. */
  hurry(): void;
  /** Removes the view, because another program writes next. It is drawn again when it changes. */
  clear(): void;
  /** Draws the remaining lines and leaves the cursor on a new line. Idempotent. */
  close(): void;
}

/** The lines below everything that was printed. */
export interface LiveView {
  lines: readonly string[];
  /** Rows after the lines, and the cursor's place in them; absent: the cursor is hidden. */
  input?: { rows: readonly string[]; cursor: { row: number; column: number } } | undefined;
}

/** The part of a terminal's stream that a screen needs. */
export interface TerminalOutput {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): boolean;
  on(event: 'resize' | 'drain', listener: () => void): unknown;
  off(event: 'resize' | 'drain', listener: () => void): unknown;
}

interface ScreenDeps {
  output: TerminalOutput;
  timers: Pick<Timers, 'after' | 'now'>;
  /** Called for each frame. */
  view(): LiveView;
}

const FRAME_MS = 33;
/** How many printed lines can be erased; more than any screen shows. */
const REMEMBERED = 1_000;
const [SYNC, UNSYNC] = ['\x1b[?2026h', '\x1b[?2026l'];
const [HIDE_CURSOR, SHOW_CURSOR] = ['\x1b[?25l', '\x1b[?25h'];

/**
 * A terminal that supports cursor movements. Draws at once after a pause, then at most 30 times a second, and not while the
 * terminal is behind.
 */
export const createLiveScreen = (deps: ScreenDeps): Screen => new LiveScreen(deps);

class LiveScreen implements Screen {
  readonly #deps: ScreenDeps;
  #waiting: string[] = [];
  #printed: string[] = [];
  /** The rows of the last frame, and how many of them are above the cursor. */
  #drawn: { rows: string[]; cursorRow: number } = { rows: [], cursorRow: 0 };
  /** Rows above the live view that the next frame replaces. */
  #retracted = 0;
  #cancelFrame: (() => void) | undefined;
  #drawnMs = Number.NEGATIVE_INFINITY;
  /** The terminal has not accepted the last frame yet. */
  #isBehind = false;
  #state: 'open' | 'closed' = 'open';

  constructor(deps: ScreenDeps) {
    this.#deps = deps;
    deps.output.on('drain', this.#onDrain);
    deps.output.on('resize', this.#onResize);
  }

  get columns(): number {
    return Math.max(20, this.#deps.output.columns || 80);
  }

  get rows(): number {
    return Math.max(5, this.#deps.output.rows || 24);
  }

  print(lines: readonly string[]): void {
    this.#waiting.push(...lines);
    this.invalidate();
  }

  retract(count: number): boolean {
    const unwritten = Math.min(count, this.#waiting.length);
    const written = count - unwritten;
    if (written > this.#printed.length) return false;
    const lines = this.#printed.slice(this.#printed.length - written);
    const height = lines.reduce((sum, line) => sum + countRows(line, this.columns), this.#retracted);
    if (height + this.#drawn.cursorRow > this.rows - 1) return false;
    this.#waiting.length -= unwritten;
    this.#printed.length -= written;
    this.#retracted = height;
    this.invalidate();
    return true;
  }

  invalidate(): void {
    if (this.#state === 'open' && !this.#isBehind) {
      const sinceMs = this.#deps.timers.now() - this.#drawnMs;
      this.#cancelFrame ??= this.#deps.timers.after(Math.max(0, FRAME_MS - sinceMs), () => this.#onFrame());
    }
  }

  hurry(): void {
    if (this.#state !== 'open' || this.#isBehind) return;
    this.#cancelFrame?.();
    this.#cancelFrame = this.#deps.timers.after(0, () => this.#onFrame()); // the keys of a burst are drawn together
  }

  clear(): void {
    this.#draw({ lines: [] });
    this.#deps.output.write(SHOW_CURSOR);
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#cancelFrame?.();
    this.#deps.output.off('drain', this.#onDrain);
    this.#deps.output.off('resize', this.#onResize);
    this.clear();
  }

  #onFrame(): void {
    const view = this.#deps.view(); // may print
    this.#cancelFrame = undefined;
    this.#drawnMs = this.#deps.timers.now();
    if (!this.#isBehind) this.#draw(view);
  }

  #draw(live: LiveView): void {
    const body = live.lines.flatMap((line) => toRows(line, this.columns));
    const all = [...body, ...(live.input?.rows ?? [])];
    const rows = all.slice(-(this.rows - 1));
    const cursorRow = live.input
      ? body.length + live.input.cursor.row - (all.length - rows.length)
      : Math.max(0, rows.length - 1);
    const up = this.#drawn.cursorRow + this.#retracted;
    const text = [
      SYNC + HIDE_CURSOR,
      `\r${up > 0 ? `\x1b[${up}A` : ''}\x1b[J`,
      ...this.#waiting.map((line) => `${line}\r\n`),
      rows.join('\r\n'),
      live.input ? placeCursor(rows.length - 1 - cursorRow, live.input.cursor.column) : '',
      UNSYNC,
    ].join('');
    this.#printed = [...this.#printed, ...this.#waiting].slice(-REMEMBERED);
    this.#waiting = [];
    this.#retracted = 0;
    this.#drawn = { rows, cursorRow };
    this.#isBehind = !this.#deps.output.write(text);
  }

  readonly #onDrain = (): void => {
    this.#isBehind = false;
    this.invalidate();
  };

  /** A narrower terminal wraps its rows, which moves the cursor down. */
  readonly #onResize = (): void => {
    const above = this.#drawn.rows.slice(0, this.#drawn.cursorRow);
    this.#drawn.cursorRow = above.reduce((sum, row) => sum + countRows(row, this.columns), 0);
    this.invalidate();
  };
}

const placeCursor = (rowsUp: number, column: number): string =>
  `\r${rowsUp > 0 ? `\x1b[${rowsUp}A` : ''}${column > 0 ? `\x1b[${column}C` : ''}${SHOW_CURSOR}`;

/** Any other output: prints lines and never redraws. */
export function createPlainScreen(write: (text: string) => void): Screen {
  return {
    columns: PLAIN_COLUMNS,
    rows: PLAIN_ROWS,
    print: (lines) => write(lines.map((line) => `${line}\n`).join('')),
    retract: () => false,
    invalidate: () => undefined,
    hurry: () => undefined,
    clear: () => undefined,
    close: () => undefined,
  };
}

/** Nothing is wrapped, because the width at which it will be shown is unknown. */
const PLAIN_COLUMNS = 10_000;
/** Output that is read later may be longer than a screen. */
const PLAIN_ROWS = 50;
