import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { InvocationTable } from '../store/schema/node-schema.ts';

type Asked = Pick<InvocationTable, 'invoke_id' | 'deadline_ms' | 'timeout_ms'>;

/** How much time commands have left, independent of the wall clock (decision 29). */
export interface InvocationDeadlines {
  /** Starts its time. */
  begin(invocation: Asked): void;
  /**
   * In whole milliseconds. For an invocation of an earlier process: the rest of its stored deadline, at most its
   * timeout.
   */
  leftMs(invocation: Asked): number;
  /** Forgets invocations that are too old to be repeated. */
  sweep(): void;
}

export function createInvocationDeadlines(clock: Pick<Clock, 'now' | 'monotonic'>): InvocationDeadlines {
  /** In monotonic milliseconds, by id, in order of start. */
  const ends = new Map<string, number>();
  return {
    begin({ invoke_id, timeout_ms }) {
      ends.set(invoke_id, clock.monotonic() + timeout_ms);
    },
    leftMs({ invoke_id, deadline_ms, timeout_ms }) {
      const endMs = ends.get(invoke_id);
      const leftMs = endMs === undefined ? deadline_ms - clock.now() : endMs - clock.monotonic();
      return Math.min(timeout_ms, Math.ceil(leftMs)); // the monotonic clock has fractions, the wire does not
    },
    sweep() {
      const oldMs = clock.monotonic() - LIMITS.idempotencyMs;
      for (const [invokeId, endMs] of ends) if (endMs <= oldMs) ends.delete(invokeId);
    },
  };
}
