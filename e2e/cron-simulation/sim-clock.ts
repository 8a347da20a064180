import type { Clock } from '../../src/clock.ts';

interface Sleeper {
  dueMs: number;
  wake(): void;
}

/** Of a process: whether, once it is not stopped, something reaches it. */
interface Sleeping {
  readonly isOver: boolean;
  reaches(): Promise<boolean>;
}

/** The wall clock went on from here with this much added to true time. */
export interface WallStep {
  trueMs: number;
  offsetMs: number;
}

/**
 * A machine's clocks. True time goes on always; the steady clock stands still while the machine sleeps, and timers with
 * it; the wall clock may be set.
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

  /** For a process that may die: its timers do not go off any more then; or be stopped: then they go off later. */
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

  /** Lets the machine work for so long; after every timer, `settle` waits until nothing is left to do at that time. */
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
