import { setImmediate as turn } from 'node:timers/promises';
import type { Random } from '../checker/random.ts';

/** Pending calls of all processes. */
export class Activity {
  #calls = 0;

  begin(): void {
    this.#calls += 1;
  }

  end(): void {
    this.#calls -= 1;
  }

  /** Resolves when all processes only wait for timers. */
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
 * The life of a process that may be killed at any of its awaits: from then on none of its code runs. Or it is
 * stopped there, as by SIGSTOP, and continues later.
 */
export class Life {
  readonly #deps: LifeDeps;
  #isOver = false;
  /** While it is stopped: resolves when it continues. */
  #stall: PromiseWithResolvers<void> | undefined;
  /** The number of awaits left until `#burnt`. */
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

  /** Dies or is stopped after this many awaits. */
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

  /** For events from outside, such as timers: waits while the process is stopped, and returns whether it is alive. */
  async reaches(): Promise<boolean> {
    while (this.#stall) await this.#stall.promise;
    return !this.#isOver;
  }

  /** An object whose calls leave the process: they take time, and the process may die before or after each call. */
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

  /** A separate await within a call. */
  async step(): Promise<void> {
    await turn();
    this.#burn();
    await this.#standStill();
  }

  /** A stopped process does not work. */
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
