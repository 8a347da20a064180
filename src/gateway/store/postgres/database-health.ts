import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import type { StoreHealth } from '../store.ts';
import { messageOf } from './postgres-errors.ts';

/** Whether the database can be written. */
export interface DatabaseHealth {
  status(): StoreHealth;
  /** Nothing can be written until `restore` succeeds. */
  failed(error: unknown): void;
  /** Stored data is unreadable. This state is permanent and logged once. */
  damaged(error: unknown): void;
  close(): void;
}

const RETRY_MS = 500;

/** Degraded from a failure until `restore`, which is called repeatedly, succeeds. */
export function createDatabaseHealth(deps: { clock: Clock; log: Log; restore(): Promise<void> }): DatabaseHealth {
  const { clock, log, restore } = deps;
  const stop = new AbortController();
  let reason: string | undefined;
  let damage: string | undefined;

  const restoreUntilOk = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await clock.sleep(RETRY_MS, stop.signal);
      } catch {
        return; // closed
      }
      try {
        await restore();
        reason = undefined;
        log.info({}, 'the database can be written again');
        return;
      } catch (error) {
        reason = toReason(error);
      }
    }
  };

  return {
    status() {
      if (reason !== undefined) return { status: 'degraded', reason };
      return damage === undefined ? { status: 'ok' } : { status: 'degraded', reason: damage, damaged: true };
    },
    failed(error) {
      const wasOk = reason === undefined;
      reason = toReason(error);
      if (!wasOk || stop.signal.aborted) return;
      log.error({ err: error }, 'cannot write to the database');
      void restoreUntilOk();
    },
    damaged(error) {
      if (damage !== undefined) return;
      damage = `a part of the database is damaged: ${messageOf(error)}`;
      log.error({ err: error }, 'a part of the database is damaged; everything else stays available');
    },
    close() {
      stop.abort();
    },
  };
}

const toReason = (error: unknown): string => `The database cannot be written: ${messageOf(error)}`;
