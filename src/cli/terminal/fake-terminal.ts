import { EventEmitter } from 'node:events';
import xterm from '@xterm/headless';
import type { TerminalOutput } from './screen.ts';

/** A terminal for tests, which shows its content. `write` returns false while it is `stalled`. */
export class FakeTerminal extends EventEmitter implements TerminalOutput {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  stalled = false;

  constructor({ columns = 40, rows = 12 } = {}) {
    super();
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 50_000, allowProposedApi: true });
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  write(text: string): boolean {
    this.#terminal.write(text);
    return !this.stalled;
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
    this.emit('resize');
  }

  /** All rows up to the last one with text, including scrolled ones, and the cursor's place among them. */
  async look(): Promise<{ lines: string[]; cursor: { row: number; column: number } }> {
    await new Promise<void>((resolve) => this.#terminal.write('', resolve));
    const buffer = this.#terminal.buffer.active;
    const rows = Array.from({ length: buffer.length }, (_, row) =>
      (buffer.getLine(row)?.translateToString() ?? '').trimEnd(),
    );
    const last = rows.findLastIndex((row) => row !== '');
    return { lines: rows.slice(0, last + 1), cursor: { row: buffer.baseY + buffer.cursorY, column: buffer.cursorX } };
  }
}
