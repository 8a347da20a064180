import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { isAbortedWithin } from '../../../timing/is-aborted-within.ts';
import type { StoreHealth } from '../store.ts';
import { LostConnection } from './lost-connection.ts';
import { messageOf, postgresFaultOf } from './postgres-errors.ts';

/** Whether the database can be written. */
export interface DatabaseHealth {
  status(): StoreHealth;
  /** Why nothing is taken now; undefined also while what is taken waits for a lost connection. */
  refusal(): string | undefined;
  /** See LostConnection. */
  untilBack(): Promise<boolean>;
  onGivenUp(listener: (error: unknown) => void): void;
  /** See LostConnection. */
  readonly patience: AbortSignal;
  stopWaiting(): void;
  /** Nothing can be written until `restore` succeeds. */
  failed(error: unknown): void;
  /** Resolves at the next failure. */
  untilFailed(): Promise<void>;
  /** Stored data is unreadable. This state is permanent and logged once. */
  damaged(error: unknown): void;
  close(): void;
}

interface HealthDeps {
  clock: Clock;
  log: Log;
  restore(): Promise<void>;
  /** Whether a connection that was lost then may still come back in time for what waits for it. */
  isWorthWaiting(lostMs: number): boolean;
}

/** A server that only dropped the connection is there at once; one that starts again is not asked too often. */
const FIRST_RETRY_MS = 50;
const RETRY_MS = 500;

/** Degraded from a failure until `restore`, which is called repeatedly, succeeds. */
export function createDatabaseHealth({ clock, log, restore, isWorthWaiting }: HealthDeps): DatabaseHealth {
  const stop = new AbortController();
  const lost = new LostConnection({ clock, isWorthWaiting, signal: stop.signal });
  let reason: string | undefined;
  let damage: string | undefined;
  let failing = Promise.withResolvers<void>();

  const restoreUntilOk = async (): Promise<void> => {
    for (
      let waitMs = FIRST_RETRY_MS;
      !(await isAbortedWithin(clock, waitMs, stop.signal));
      waitMs = Math.min(2 * waitMs, RETRY_MS)
    ) {
      try {
        await restore();
        reason = undefined;
        lost.back();
        log.info({}, 'the database can be written again');
        return;
      } catch (error) {
        reason = toReason(error);
      }
    }
  };

  return {
    refusal: () => (lost.isWaited ? undefined : reason),
    untilBack: () => lost.untilBack(reason === undefined),
    onGivenUp: (listener) => lost.onGivenUp(listener),
    get patience() {
      return lost.patience;
    },
    stopWaiting: () => lost.stopWaiting(),
    untilFailed: () => failing.promise,
    status() {
      if (reason !== undefined) return { status: 'degraded', reason };
      return damage === undefined ? { status: 'ok' } : { status: 'degraded', reason: damage, damaged: true };
    },
    failed(error) {
      const wasOk = reason === undefined;
      const isLost = postgresFaultOf(error) === 'lost';
      reason = toReason(error);
      failing.resolve();
      failing = Promise.withResolvers();
      if (!isLost) lost.giveUp(error);
      if (!wasOk || stop.signal.aborted) return;
      log.error({ err: error }, 'cannot write to the database');
      void restoreUntilOk();
      if (isLost) lost.begin(error);
    },
    damaged(error) {
      if (damage !== undefined) return;
      damage = `a part of the database is damaged: ${messageOf(error)}`;
      log.error({ err: error }, 'a part of the database is damaged; everything else stays available');
    },
    close() {
      stop.abort();
      lost.stopWaiting();
    },
  };
}

const toReason = (error: unknown): string => `The database cannot be written: ${messageOf(error)}`;
