import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';

/** Whether the disk takes writes, as the last group or probe found it. */
export interface DiskHealth {
  status(): { status: 'ok' | 'degraded'; reason?: string };
  failed(error: unknown): void;
  succeeded(): void;
  close(): void;
}

/** While degraded, `probe` (which throws when it cannot write) is tried every `probeMs`, so that an idle daemon recovers. */
export function createDiskHealth(deps: { clock: Clock; log: Log; probe(): void; probeMs?: number }): DiskHealth {
  const stop = new AbortController();
  let reason: string | undefined;

  const probeOnce = (): void => {
    try {
      deps.probe();
      health.succeeded();
    } catch (error) {
      reason = messageOf(error);
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

  const health: DiskHealth = {
    status: () => (reason === undefined ? { status: 'ok' } : { status: 'degraded', reason }),
    failed(error) {
      const wasOk = reason === undefined;
      reason = messageOf(error);
      if (!wasOk) return;
      deps.log.error({ err: error }, 'the disk takes no writes');
      void probeUntilOk();
    },
    succeeded() {
      if (reason === undefined) return;
      reason = undefined;
      deps.log.info({}, 'the disk takes writes again');
    },
    close() {
      stop.abort();
    },
  };
  return health;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
