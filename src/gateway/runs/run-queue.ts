import type { RunRecord, RunResult } from './run-record.ts';

/** An accepted run that waits for the current one. */
export interface QueuedRun {
  run: RunRecord;
  ended: PromiseWithResolvers<RunResult>;
}

/** The runs that wait, oldest first. Callers enforce the limit (LIMITS.queuedRunsPerWorkstream). */
export class RunQueue {
  readonly #items: QueuedRun[] = [];

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
    return item;
  }

  /** Returns a run that could be neither started nor dropped to its place. */
  putBack(item: QueuedRun): void {
    const later = this.#items.findIndex(({ run }) => run.acceptedMs > item.run.acceptedMs);
    this.#items.splice(later < 0 ? this.#items.length : later, 0, item);
  }

  find(runId: string): QueuedRun | undefined {
    return this.#items.find(({ run }) => run.runId === runId);
  }

  remove(item: QueuedRun): void {
    const index = this.#items.indexOf(item);
    if (index >= 0) this.#items.splice(index, 1);
  }
}
