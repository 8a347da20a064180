import { type ReadonlySignal, type Signal, signal } from '@preact/signals';

/** `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

interface Port {
  /** Storage of the choice; index.html reads it before the first paint. */
  memory: Pick<Storage, 'getItem' | 'setItem'>;
  apply(theme: Theme): void;
}

const MEMORY_KEY = 'headgate.theme';
const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };

/** The colour theme chosen by a person, for all tabs of the browser. */
export class ThemeChoice {
  readonly #port: Port;
  readonly #current: Signal<Theme>;

  constructor(port: Port) {
    this.#port = port;
    this.#current = signal(this.#remembered());
  }

  get current(): ReadonlySignal<Theme> {
    return this.#current;
  }

  next(): void {
    const theme = NEXT[this.#current.peek()];
    this.#port.memory.setItem(MEMORY_KEY, theme);
    this.follow();
  }

  /** Reads a choice made in another tab. */
  follow(): void {
    this.#current.value = this.#remembered();
    this.#port.apply(this.#current.peek());
  }

  #remembered(): Theme {
    const theme = this.#port.memory.getItem(MEMORY_KEY);
    return theme === 'light' || theme === 'dark' ? theme : 'auto';
  }
}
