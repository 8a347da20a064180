import { createTold } from '../../timing/told.ts';

/** The logs that begin to have readers who may approve, and those that have none any more. */
export interface WatchedLogs {
  begun: readonly string[];
  ended: readonly string[];
}

/** Which logs have readers who may approve: readers of this daemon, and of the active one, which tells its workers. */
export class Approvers {
  /** How many readers here may approve. */
  readonly #counts = new Map<string, number>();
  readonly #elsewhere = new Set<string>();
  readonly #told = createTold<WatchedLogs>();

  enter(wsId: string): void {
    const count = this.#counts.get(wsId) ?? 0;
    this.#counts.set(wsId, count + 1);
    if (count === 0) this.#told.tell(() => ({ begun: [wsId], ended: [] }));
  }

  leave(wsId: string): void {
    const count = (this.#counts.get(wsId) ?? 0) - 1;
    if (count > 0) this.#counts.set(wsId, count);
    else if (this.#counts.delete(wsId)) this.#told.tell(() => ({ begun: [], ended: [wsId] }));
  }

  has(wsId: string): boolean {
    return this.#counts.has(wsId) || this.#elsewhere.has(wsId);
  }

  /** Calls back when a log has such readers here, or has none here any more. */
  onTold(listener: (logs: WatchedLogs) => void): void {
    this.#told.add(listener);
  }

  /** The logs that have such readers here. */
  watched(): string[] {
    return [...this.#counts.keys()];
  }

  /** The same at another daemon. */
  retell({ begun, ended }: WatchedLogs): void {
    for (const wsId of begun) this.#elsewhere.add(wsId);
    for (const wsId of ended) this.#elsewhere.delete(wsId);
  }

  /** The other daemon cannot be asked. */
  forget(): void {
    this.#elsewhere.clear();
  }
}
