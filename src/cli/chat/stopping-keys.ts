import type { PersonInput } from './person/person-input.ts';
import { isTalkBusy, type Talk } from './talk.ts';

interface StoppingDeps {
  talk(): Talk;
  person: Pick<PersonInput, 'stop'>;
  /** On a clock that never jumps. */
  nowMs(): number;
  attempt(work: Promise<unknown>): void;
  onLeave(): void;
}

/** A second Ctrl-C within this time leaves the chat. */
const TWICE_MS = 2_000;

/** What Escape and Ctrl-C stop. */
export class Stopping {
  readonly #deps: StoppingDeps;
  #interruptedMs = Number.NEGATIVE_INFINITY;
  #isStopping = false;

  constructor(deps: StoppingDeps) {
    this.#deps = deps;
  }

  /** Call when nothing runs. */
  reset(): void {
    this.#isStopping = false;
  }

  /** Stops the run in progress; one that has not stopped since the last time is abandoned. False if there is none. */
  stop(): boolean {
    const { talk, person, attempt } = this.#deps;
    if (person.stop()) return true;
    const isBusy = isTalkBusy(talk());
    if (isBusy) attempt(talk().cancel(this.#isStopping));
    this.#isStopping = isBusy;
    return isBusy;
  }

  /** Handles Ctrl-C on an empty line. Returns a hint, unless the person leaves. */
  interrupt(): string | undefined {
    const sinceMs = this.#deps.nowMs() - this.#interruptedMs;
    this.#interruptedMs = this.#deps.nowMs();
    if (sinceMs >= TWICE_MS) return this.stop() ? 'Stopping. Ctrl-C again leaves.' : 'Ctrl-C again or Ctrl-D leaves.';
    this.#deps.onLeave();
    return undefined;
  }
}
