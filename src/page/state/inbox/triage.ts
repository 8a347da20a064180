import { type ReadonlySignal, signal } from '@preact/signals';
import type { Timers } from '../../../../protocol/client/timers.ts';

/** A decision that was made with a key. */
interface Held {
  /** What was decided about. */
  key: string;
  /** What was decided, for people. */
  words: string;
  /** Returns an error message, or undefined on success. */
  act(): Promise<string | undefined>;
}

/** How long a decision can be taken back. */
const UNDO_MS = 5_000;

/**
 * Decisions that are made with single keys wait a little, so that a slip of a finger can be taken back. Nothing happens
 * before that; a page that is closed meanwhile decides nothing.
 */
export class Triage {
  readonly #timers: Pick<Timers, 'after'>;
  readonly #held = signal<Held | undefined>(undefined);
  readonly #problem = signal<string | undefined>(undefined);
  #cancel = (): void => undefined;
  #acting: Held | undefined;
  /** A key, and not the pointer, presses a button now. */
  isKey = false;

  constructor(timers: Pick<Timers, 'after'>) {
    this.#timers = timers;
  }

  /** The last decision, while it can be taken back. */
  get held(): ReadonlySignal<Held | undefined> {
    return this.#held;
  }

  /** Why the last decision was refused. */
  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  /** The decision before can no longer be taken back. */
  hold(decision: Held): void {
    void this.finish();
    this.#problem.value = undefined;
    this.#held.value = decision;
    this.#cancel = this.#timers.after(UNDO_MS, () => void this.finish());
  }

  undo(): void {
    if (this.#acting === this.#held.peek()) return; // too late
    this.#cancel();
    this.#held.value = undefined;
  }

  /** Carries out what is held, at once. */
  async finish(): Promise<void> {
    const held = this.#held.peek();
    if (held === undefined || this.#acting === held) return;
    this.#cancel();
    this.#acting = held;
    const problem = await held.act();
    if (this.#held.peek() === held) this.#held.value = undefined;
    if (problem !== undefined) this.#problem.value = problem;
  }
}
