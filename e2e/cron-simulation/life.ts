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

interface LifeDeps {
  activity: Activity;
  random: Random;
  onEnd(): void;
  onStall(): void;
  onGoOn(): void;
}

/**
 * Of a process that may be killed at any of its awaits: from then on nothing of it goes on, whatever it waited for. Or it is
 * stopped there, as by SIGSTOP: all of it goes on later.
 */
export class Life {
  readonly #deps: LifeDeps;
  #isOver = false;
  /** While it is stopped: resolves when it goes on. */
  #stall: PromiseWithResolvers<void> | undefined;
  /** Awaits that are left until `#burnt`. */
  #fuse = Number.POSITIVE_INFINITY;
  #burnt = (): void => undefined;

  constructor(deps: LifeDeps) {
    this.#deps = deps;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isStalled(): boolean {
    return this.#stall !== undefined;
  }

  /** It dies, or is stopped, after so many awaits. */
  light(fuse: number, then: 'end' | 'stall'): void {
    this.#fuse = fuse;
    this.#burnt = () => this[then]();
  }

  end(): void {
    if (this.#isOver) return;
    this.goOn();
    this.#isOver = true;
    this.#deps.onEnd();
  }

  stall(): void {
    if (this.#isOver || this.#stall) return;
    this.#stall = Promise.withResolvers();
    this.#deps.onStall();
  }

  goOn(): void {
    this.#fuse = Number.POSITIVE_INFINITY;
    if (!this.#stall) return;
    this.#stall.resolve();
    this.#stall = undefined;
    this.#deps.onGoOn();
  }

  /** For what comes from outside, like a timer: waits where it is stopped, and has only waited when this answers true. */
  async reaches(): Promise<boolean> {
    while (this.#stall) await this.#stall.promise;
    return !this.#isOver;
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
    this.#deps.activity.begin();
    const [answer] = await Promise.allSettled([this.#take(call)]);
    await this.#standStill();
    this.#deps.activity.end();
    if (this.#isOver) return NEVER;
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }

  async #take(call: () => unknown): Promise<unknown> {
    for (let turns = this.#deps.random.int(0, 3); turns > 0; turns -= 1) await turn();
    this.#burn();
    await this.#standStill();
    if (this.#isOver) return undefined;
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
    await this.#standStill();
  }

  /** Whoever is stopped is not at work. */
  async #standStill(): Promise<void> {
    while (this.#stall) {
      this.#deps.activity.end();
      await this.#stall.promise;
      this.#deps.activity.begin();
    }
  }

  #burn(): void {
    this.#fuse -= 1;
    if (this.#fuse <= 0) this.#burnt();
  }
}

const NEVER = new Promise<never>(() => undefined);
