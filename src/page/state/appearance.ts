import { type ReadonlySignal, type Signal, signal } from '@preact/signals';

/** `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

/** Every choice and its values, the default first. index.html sets the same attributes before the first paint. */
const VALUES = {
  theme: ['auto', 'light', 'dark'],
  contrast: ['auto', 'more', 'normal'],
  density: ['comfortable', 'compact'],
} as const;

/** What the page looks like: an attribute of its root for each. */
export type Aspect = keyof typeof VALUES;

interface Port {
  memory: Pick<Storage, 'getItem' | 'setItem'>;
  /** Whether the system asks for more contrast. */
  asksForContrast(): boolean;
  apply(aspect: Aspect, value: string): void;
}

/** What a person chose, for all tabs of the browser. */
export class Appearance {
  readonly theme: Choice<'theme'>;
  readonly contrast: Choice<'contrast'>;
  readonly density: Choice<'density'>;

  constructor(port: Port) {
    this.theme = new Choice('theme', port);
    this.contrast = new Choice('contrast', port);
    this.density = new Choice('density', port);
  }

  /** Reads what another tab chose, and what the system asks for now. */
  follow(): void {
    for (const choice of [this.theme, this.contrast, this.density]) choice.follow();
  }
}

class Choice<A extends Aspect> {
  readonly values: (typeof VALUES)[A];
  readonly #aspect: A;
  readonly #port: Port;
  readonly #current: Signal<(typeof VALUES)[A][number]>;

  constructor(aspect: A, port: Port) {
    this.values = VALUES[aspect];
    this.#aspect = aspect;
    this.#port = port;
    this.#current = signal(this.#remembered());
  }

  get current(): ReadonlySignal<(typeof VALUES)[A][number]> {
    return this.#current;
  }

  /** Values that are none of this choice are ignored. */
  choose(value: string): void {
    if (this.#find(value) === undefined) return;
    this.#port.memory.setItem(`headgate.${this.#aspect}`, value);
    this.follow();
  }

  /** The value after the current one, and after the last the first. */
  next(): void {
    const values: readonly string[] = this.values;
    const next = values[values.indexOf(this.#current.peek()) + 1] ?? values[0];
    if (next !== undefined) this.choose(next);
  }

  follow(): void {
    this.#current.value = this.#remembered();
    const value = this.#current.peek();
    const isOfSystem = this.#aspect === 'contrast' && value === 'auto';
    this.#port.apply(this.#aspect, isOfSystem && this.#port.asksForContrast() ? 'more' : value);
  }

  #remembered(): (typeof VALUES)[A][number] {
    return this.#find(this.#port.memory.getItem(`headgate.${this.#aspect}`)) ?? this.values[0];
  }

  #find(value: string | null): (typeof VALUES)[A][number] | undefined {
    const values: readonly (typeof VALUES)[A][number][] = this.values;
    return values.find((one) => one === value);
  }
}
