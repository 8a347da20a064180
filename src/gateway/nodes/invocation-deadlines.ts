import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { InvocationTable } from '../store/schema/schema.ts';

type Asked = Pick<InvocationTable, 'invoke_id' | 'deadline_ms' | 'timeout_ms'>;

/** How long commands still have, whatever happens to the wall clock (decision 29). */
export interface InvocationDeadlines {
  /** Its time begins now. */
  begin(invocation: Asked): void;
  /** In whole milliseconds. Of one that an earlier process began: what its stored deadline leaves, and never more than it was given. */
  leftMs(invocation: Asked): number;
  /** Forgets what is as old as a repeat may be. */
  sweep(): void;
}

export function createInvocationDeadlines(clock: Pick<Clock, 'now' | 'monotonic'>): InvocationDeadlines {
  /** In monotonic milliseconds, by id; in the order in which they began. */
  const ends = new Map<string, number>();
  return {
    begin({ invoke_id, timeout_ms }) {
      ends.set(invoke_id, clock.monotonic() + timeout_ms);
    },
    leftMs({ invoke_id, deadline_ms, timeout_ms }) {
      const endMs = ends.get(invoke_id);
      const leftMs = endMs === undefined ? deadline_ms - clock.now() : endMs - clock.monotonic();
      return Math.min(timeout_ms, Math.ceil(leftMs)); // the monotonic clock counts fractions, the wire does not
    },
    sweep() {
      const oldMs = clock.monotonic() - LIMITS.idempotencyMs;
      for (const [invokeId, endMs] of ends) if (endMs <= oldMs) ends.delete(invokeId);
    },
  };
}
