import { GatewayError } from '../../../protocol/errors.ts';
import type { RunRecord, RunResult } from './run-record.ts';

/** An accepted run that waits for the current one. */
export interface QueuedRun {
  run: RunRecord;
  ended: PromiseWithResolvers<RunResult>;
  /** False while its acceptance is being committed. */
  isStored: boolean;
  /** Its acceptance failed, so there is nothing to drop. */
  isRefused?: true;
}

/** The runs that wait: first those for the run in progress, then the others in the order of their start. Callers enforce the limit (LIMITS.queuedRunsPerWorkstream). */
export class RunQueue {
  readonly #items: QueuedRun[] = [];
  /** They no longer wait, and this is not stored yet. */
  readonly #leaving: QueuedRun[] = [];
  readonly #onChange: (queue: RunQueue) => void;
  #held: string | undefined;

  /** `onChange` is called after each change; must not throw. */
  constructor(onChange: (queue: RunQueue) => void) {
    this.#onChange = onChange;
  }

  get length(): number {
    return this.#items.length;
  }

  /** Why the messages of people are not sent although nothing runs. */
  get held(): string | undefined {
    return this.#held;
  }

  hold(reason: string): void {
    if (this.#items.length === 0) return;
    this.#held = reason;
    this.announce();
  }

  release(): void {
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.announce();
  }

  get first(): QueuedRun | undefined {
    return this.#items[0];
  }

  all(): QueuedRun[] {
    return [...this.#items];
  }

  /** What readers see: a kill of the daemon must not change it, so only what is stored, until it is stored that it has left. */
  stored(): QueuedRun[] {
    return [...this.#leaving, ...this.#items].filter(({ isStored }) => isStored);
  }

  /** Makes acceptance times distinct, because a restart restores the order from them. */
  add(run: RunRecord, { isStored }: { isStored: boolean }): QueuedRun {
    const lastMs = Math.max(0, ...this.#items.map(({ run }) => run.acceptedMs));
    run.acceptedMs = Math.max(run.acceptedMs, lastMs + 1);
    const item: QueuedRun = { run, ended: Promise.withResolvers(), isStored };
    this.putBack(item);
    return item;
  }

  /** Returns a run that could be neither started nor dropped to its place, unless its acceptance has failed meanwhile. */
  putBack(item: QueuedRun): void {
    this.#forget(item);
    if (!item.isRefused) this.#items.push(item);
    this.sort();
  }

  find(runId: string): QueuedRun | undefined {
    return this.#items.find(({ run }) => run.runId === runId);
  }

  /** Takes out a run that is about to be started or dropped. Readers see it until `left`. */
  leave(item: QueuedRun): void {
    const index = this.#items.indexOf(item);
    if (index < 0) return;
    this.#items.splice(index, 1);
    this.#leaving.push(item);
    if (this.#items.length === 0) this.#held = undefined;
  }

  /** It is stored that these runs have left. */
  left(...items: readonly QueuedRun[]): void {
    for (const item of items) {
      this.leave(item);
      this.#forget(item);
    }
    if (items.length > 0) this.announce();
  }

  /** Its acceptance failed. */
  refused(item: QueuedRun): void {
    item.isRefused = true;
    this.left(item);
  }

  /** Its acceptance is stored. */
  accepted(item: QueuedRun): void {
    item.isStored = true;
    this.announce();
  }

  #forget(item: QueuedRun): void {
    const index = this.#leaving.indexOf(item);
    if (index >= 0) this.#leaving.splice(index, 1);
  }

  /**
   * Moves a run to a place, and gives the acceptance times to the runs in their new order. Runs for the run in progress
   * stay before the others.
   */
  move(item: QueuedRun, place: number): void {
    const steering = this.#items.filter(isSteering).length;
    const to = isSteering(item) ? Math.min(place, steering - 1) : Math.max(place, steering);
    const times = this.#items.map(({ run }) => run.acceptedMs);
    this.#items.splice(this.#items.indexOf(item), 1);
    this.#items.splice(to, 0, item);
    for (const [index, { run }] of this.#items.entries()) run.acceptedMs = times[index] ?? run.acceptedMs;
    this.announce();
  }

  /** Restores the order. */
  sort(): void {
    this.#items.sort(
      (one, other) => Number(isSteering(other)) - Number(isSteering(one)) || one.run.acceptedMs - other.run.acceptedMs,
    );
    this.announce();
  }

  /** Reports the current runs. */
  announce(): void {
    this.#onChange(this);
  }
}

/** The refusal of a further message. */
export const queueFull = () =>
  new GatewayError('BUSY', 'Too many messages are queued in this workstream', {
    retryAfterMs: 5_000,
    details: { reason: 'queue_full' },
  });

const isSteering = ({ run }: QueuedRun): boolean => run.request.steer === true;
