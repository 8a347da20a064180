import type { RunRecord, RunResult } from './run-record.ts';

/** An accepted run that waits for the current one. */
export interface QueuedRun {
  run: RunRecord;
  ended: PromiseWithResolvers<RunResult>;
}

/** The runs that wait, in the order of their start. Callers enforce the limit (LIMITS.queuedRunsPerWorkstream). */
export class RunQueue {
  readonly #items: QueuedRun[] = [];
  readonly #onChange: (items: readonly QueuedRun[]) => void;

  /** `onChange` is called after each change; must not throw. */
  constructor(onChange: (items: readonly QueuedRun[]) => void) {
    this.#onChange = onChange;
  }

  get length(): number {
    return this.#items.length;
  }

  get first(): QueuedRun | undefined {
    return this.#items[0];
  }

  all(): QueuedRun[] {
    return [...this.#items];
  }

  /** Makes acceptance times distinct, because a restart restores the order from them. */
  add(run: RunRecord): QueuedRun {
    const lastMs = this.#items.at(-1)?.run.acceptedMs ?? 0;
    run.acceptedMs = Math.max(run.acceptedMs, lastMs + 1);
    const item: QueuedRun = { run, ended: Promise.withResolvers() };
    this.#items.push(item);
    this.announce();
    return item;
  }

  /** Returns a run that could be neither started nor dropped to its place. */
  putBack(item: QueuedRun): void {
    const later = this.#items.findIndex(({ run }) => run.acceptedMs > item.run.acceptedMs);
    this.#items.splice(later < 0 ? this.#items.length : later, 0, item);
    this.announce();
  }

  find(runId: string): QueuedRun | undefined {
    return this.#items.find(({ run }) => run.runId === runId);
  }

  remove(item: QueuedRun): void {
    const index = this.#items.indexOf(item);
    if (index < 0) return;
    this.#items.splice(index, 1);
    this.announce();
  }

  /** Moves a run to a place, and gives the acceptance times to the runs in their new order. */
  move(item: QueuedRun, to: number): void {
    const times = this.#items.map(({ run }) => run.acceptedMs);
    this.#items.splice(this.#items.indexOf(item), 1);
    this.#items.splice(to, 0, item);
    for (const [index, { run }] of this.#items.entries()) run.acceptedMs = times[index] ?? run.acceptedMs;
    this.announce();
  }

  /** Restores the order of the acceptance times. */
  sort(): void {
    this.#items.sort((one, other) => one.run.acceptedMs - other.run.acceptedMs);
    this.announce();
  }

  /** Reports the current runs. */
  announce(): void {
    this.#onChange(this.#items);
  }
}
