import type { RunRecord, RunResult } from './run-record.ts';

/** An accepted run that waits for the one in progress. */
export interface QueuedRun {
  run: RunRecord;
  ended: PromiseWithResolvers<RunResult>;
}

/** What waits behind the run in progress, oldest first. Callers keep it within its limit (LIMITS.queuedRunsPerWorkstream). */
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

  add(run: RunRecord): QueuedRun {
    const item: QueuedRun = { run, ended: Promise.withResolvers() };
    this.#items.push(item);
    return item;
  }

  /** It could not be started or dropped: it is next again. */
  putBack(item: QueuedRun): void {
    this.#items.unshift(item);
  }

  find(runId: string): QueuedRun | undefined {
    return this.#items.find(({ run }) => run.runId === runId);
  }

  remove(item: QueuedRun): void {
    const index = this.#items.indexOf(item);
    if (index >= 0) this.#items.splice(index, 1);
  }
}
