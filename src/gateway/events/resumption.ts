import { type Cursor, formatCursor, parseCursor } from '../../../protocol/cursor.ts';
import type { TransientEvent } from '../../../protocol/events/transient.ts';

/** Whether a log can be continued after a cursor, and if not, why. */
export interface Resumption {
  recovered: boolean;
  reason?: 'expired' | 'epoch' | 'ahead';
  offset: number;
}

interface LogPlace {
  epoch: string;
  first: number;
  last: number;
}

/** `expired`: later events are no longer stored; `epoch`: a different log; `ahead`: beyond the end of this log. */
export function resumption(cursor: Cursor, log: LogPlace): Resumption {
  const { offset } = cursor;
  if (cursor.epoch !== log.epoch) return { recovered: false, reason: 'epoch', offset };
  if (offset > log.last) return { recovered: false, reason: 'ahead', offset };
  if (offset < log.first - 1) return { recovered: false, reason: 'expired', offset };
  return { recovered: true, offset };
}

/** Also reads a negative offset, which lies before every log and is always expired. */
export function parsePlace(text: string | undefined): Cursor | undefined {
  const positive = text?.replace(/:-(?=[1-9])/, ':');
  const cursor = parseCursor(positive);
  return cursor && positive !== text ? { ...cursor, offset: -cursor.offset } : cursor;
}

/** Tells a client how much it has missed: in another log, and beyond the end of this one, nobody knows. */
export const truncation = (
  { reason, offset }: Resumption,
  { epoch, first }: LogPlace,
): Extract<TransientEvent, { type: 'replay_truncated' }> => ({
  type: 'replay_truncated',
  lost_count: reason === 'expired' ? first - 1 - Math.max(0, offset) : 0,
  earliest_available_id: formatCursor({ epoch, offset: first }),
});
