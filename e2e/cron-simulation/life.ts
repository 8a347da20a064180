import { setImmediate as turn } from 'node:timers/promises';
import type { Random } from '../checker/random.ts';

/** Calls that are on their way, of all processes. */
export class Activity {
  #calls = 0;

  begin(): void {
    this.#calls += 1;
  }

  end(): void {
    this.#calls -= 1;
  }

  /** Resolves when nobody does anything any more but wait for a timer. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      await turn();
      quiet = this.#calls === 0 ? quiet + 1 : 0;
    }
  }
}

/** Of a process that may be killed at any of its awaits: from then on nothing of it goes on, whatever it waited for. */
export class Life {
  readonly #activity: Activity;
  readonly #random: Random;
  #isOver = false;
  /** Awaits that are left to it. */
  #fuse = Number.POSITIVE_INFINITY;

  readonly #onEnd: () => void;

  constructor({ activity, random, onEnd }: { activity: Activity; random: Random; onEnd: () => void }) {
    this.#activity = activity;
    this.#random = random;
    this.#onEnd = onEnd;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** It dies after so many awaits. */
  light(fuse: number): void {
    this.#fuse = fuse;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
  }

  /** An object whose calls cross the border of the process: they take their time, and it may die before or after each. */
  wrap<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name, of);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => this.#cross(() => Reflect.apply(value, of, given));
      },
    });
  }

  async #cross(call: () => unknown): Promise<unknown> {
    this.#activity.begin();
    const [answer] = await Promise.allSettled([this.#take(call)]);
    this.#activity.end();
    if (this.#isOver) return NEVER;
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }

  async #take(call: () => unknown): Promise<unknown> {
    for (let turns = this.#random.int(0, 3); turns > 0; turns -= 1) await turn();
    if (this.#burn()) return undefined;
    try {
      return await call();
    } finally {
      this.#burn();
    }
  }

  /** An await of its own, inside of a call. */
  async step(): Promise<void> {
    await turn();
    this.#burn();
  }

  #burn(): boolean {
    this.#fuse -= 1;
    if (this.#fuse <= 0) this.end();
    return this.#isOver;
  }
}

const NEVER = new Promise<never>(() => undefined);
