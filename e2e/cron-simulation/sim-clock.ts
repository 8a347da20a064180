import type { Clock } from '../../src/clock.ts';

interface Sleeper {
  dueMs: number;
  wake(): void;
}

/** A process that waits. `reaches` resolves once the process is not stopped: false if it is dead. */
interface Sleeping {
  readonly isOver: boolean;
  reaches(): Promise<boolean>;
}

/** From here on the wall clock differs from true time by this much. */
export interface WallStep {
  trueMs: number;
  offsetMs: number;
}

/**
 * The clocks of a machine. True time always advances; the steady clock and the timers stand still while the machine
 * sleeps; the wall clock may be set.
 */
export class SimClock {
  #trueMs = 0;
  #steadyMs = 0;
  #offsetMs: number;
  readonly #sleepers = new Set<Sleeper>();
  readonly wallSteps: WallStep[];

  constructor(wallMs: number) {
    this.#offsetMs = wallMs;
    this.wallSteps = [{ trueMs: 0, offsetMs: wallMs }];
  }

  get trueMs(): number {
    return this.#trueMs;
  }

  now(): number {
    return this.#trueMs + this.#offsetMs;
  }

  monotonic(): number {
    return this.#steadyMs;
  }

  jump(ms: number): void {
    this.#offsetMs += ms;
    this.wallSteps.push({ trueMs: this.#trueMs, offsetMs: this.#offsetMs });
  }

  /** The machine sleeps. */
  suspend(ms: number): void {
    this.#trueMs += ms;
  }

  /** For a process that may die or be stopped: its timers never fire after its death, and fire late after a stop. */
  clockOf(life: Sleeping): Clock {
    return {
      now: () => this.now(),
      monotonic: () => this.monotonic(),
      sleep: (ms, signal) => this.#sleep(ms, { signal, life }),
    };
  }

  #sleep(ms: number, { signal, life }: { signal: AbortSignal; life: Sleeping }): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const giveUp = () => {
        this.#sleepers.delete(sleeper);
        if (!life.isOver) reject(signal.reason);
      };
      const sleeper: Sleeper = {
        dueMs: this.#steadyMs + Math.max(0, ms),
        wake() {
          signal.removeEventListener('abort', giveUp);
          void life.reaches().then((isThere) => isThere && resolve());
        },
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Advances the machine's time. After every timer, `settle` waits until all work at that time is done. */
  async advance(ms: number, settle: () => Promise<void>): Promise<void> {
    const untilMs = this.#steadyMs + ms;
    await settle();
    for (let next = this.#first(untilMs); next; next = this.#first(untilMs)) {
      this.#goTo(Math.max(next.dueMs, this.#steadyMs));
      this.#sleepers.delete(next);
      next.wake();
      await settle();
    }
    this.#goTo(untilMs);
  }

  #goTo(steadyMs: number): void {
    this.#trueMs += steadyMs - this.#steadyMs;
    this.#steadyMs = steadyMs;
  }

  #first(untilMs: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.dueMs <= untilMs && (!first || sleeper.dueMs < first.dueMs)) first = sleeper;
    }
    return first;
  }
}
