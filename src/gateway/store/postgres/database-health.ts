import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import type { StoreHealth } from '../store.ts';
import { messageOf, postgresFaultOf } from './postgres-errors.ts';

/** Whether the database can be written. */
export interface DatabaseHealth {
  status(): StoreHealth;
  /** Why nothing is taken now; undefined also while what is taken waits for a lost connection. */
  refusal(): string | undefined;
  /** Resolves when the database can be written again; false: that is not worth waiting for any longer. */
  untilBack(): Promise<boolean>;
  /** Nothing can be written until `restore` succeeds. */
  failed(error: unknown): void;
  /** From now on, nothing waits for a lost connection. */
  stopWaiting(): void;
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
/** How exactly the time that is worth waiting is kept. */
const LOOK_MS = 200;

/** Degraded from a failure until `restore`, which is called repeatedly, succeeds. */
export function createDatabaseHealth({ clock, log, restore, isWorthWaiting }: HealthDeps): DatabaseHealth {
  const stop = new AbortController();
  let reason: string | undefined;
  let damage: string | undefined;
  let mayWait = true;
  /** Answers what waits for the connection; undefined if nothing may wait. */
  let lost: PromiseWithResolvers<boolean> | undefined;

  const isClosedAfter = (ms: number): Promise<boolean> =>
    clock.sleep(ms, stop.signal).then(
      () => false,
      () => true,
    );
  const settle = (isBack: boolean): void => {
    lost?.resolve(isBack);
    lost = undefined;
  };
  const restoreUntilOk = async (): Promise<void> => {
    for (let waitMs = FIRST_RETRY_MS; !(await isClosedAfter(waitMs)); waitMs = Math.min(2 * waitMs, RETRY_MS)) {
      try {
        await restore();
        reason = undefined;
        settle(true);
        log.info({}, 'the database can be written again');
        return;
      } catch (error) {
        reason = toReason(error);
      }
    }
  };
  /** An attempt to connect can take longer than it is worth waiting. */
  const giveUpInTime = async (): Promise<void> => {
    const [mine, lostMs] = [lost, clock.monotonic()];
    while (lost === mine && isWorthWaiting(lostMs)) if (await isClosedAfter(LOOK_MS)) break;
    if (lost === mine) settle(false);
  };

  return {
    refusal: () => (lost === undefined ? reason : undefined),
    untilBack: () => lost?.promise ?? Promise.resolve(reason === undefined),
    status() {
      if (reason !== undefined) return { status: 'degraded', reason };
      return damage === undefined ? { status: 'ok' } : { status: 'degraded', reason: damage, damaged: true };
    },
    failed(error) {
      const wasOk = reason === undefined;
      const isLost = postgresFaultOf(error) === 'lost';
      reason = toReason(error);
      if (!isLost) settle(false);
      if (!wasOk || stop.signal.aborted) return;
      log.error({ err: error }, 'cannot write to the database');
      void restoreUntilOk();
      if (!isLost || !mayWait) return;
      lost = Promise.withResolvers();
      void giveUpInTime();
    },
    stopWaiting() {
      mayWait = false;
      settle(false);
    },
    damaged(error) {
      if (damage !== undefined) return;
      damage = `a part of the database is damaged: ${messageOf(error)}`;
      log.error({ err: error }, 'a part of the database is damaged; everything else stays available');
    },
    close() {
      stop.abort();
      settle(false);
    },
  };
}

const toReason = (error: unknown): string => `The database cannot be written: ${messageOf(error)}`;
