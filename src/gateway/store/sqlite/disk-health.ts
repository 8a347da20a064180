import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import type { StoreHealth } from '../store.ts';

/** Whether the disk can be written. */
export interface DiskHealth {
  status(): StoreHealth;
  failed(error: unknown): void;
  /** A part of the database is unreadable. This state is permanent and logged once. */
  damaged(error: unknown): void;
  close(): void;
}

/**
 * Degraded from the first failed group until `probe`, called every `probeMs`, succeeds. Groups that succeed meanwhile
 * do not count, because small ones sometimes still fit on a full disk.
 */
export function createDiskHealth(deps: { clock: Clock; log: Log; probe(): void; probeMs?: number }): DiskHealth {
  const stop = new AbortController();
  let reason: string | undefined;
  let damage: string | undefined;

  const probeOnce = (): void => {
    try {
      deps.probe();
      reason = undefined;
      deps.log.info({}, 'the disk can be written again');
    } catch (error) {
      reason = wordsOf(error);
    }
  };
  const probeUntilOk = async (): Promise<void> => {
    while (reason !== undefined && !stop.signal.aborted) {
      try {
        await deps.clock.sleep(deps.probeMs ?? 1_000, stop.signal);
      } catch {
        return; // closed
      }
      if (reason !== undefined) probeOnce();
    }
  };

  return {
    status() {
      if (reason !== undefined) return { status: 'degraded', reason };
      return damage === undefined ? { status: 'ok' } : { status: 'degraded', reason: damage, damaged: true };
    },
    failed(error) {
      const wasOk = reason === undefined;
      reason = wordsOf(error);
      if (!wasOk) return;
      deps.log.error({ err: error }, 'cannot write to the disk');
      void probeUntilOk();
    },
    damaged(error) {
      if (damage !== undefined) return;
      damage = `a part of the database is damaged: ${wordsOf(error)}`;
      deps.log.error({ err: error }, 'a part of the database is damaged; everything else stays available');
    },
    close() {
      stop.abort();
    },
  };
}
