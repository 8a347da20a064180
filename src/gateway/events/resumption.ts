import type { Cursor } from '../../../protocol/cursor.ts';

/** Whether a log can be continued after a cursor, and if not, why. */
export interface Resumption {
  recovered: boolean;
  reason?: 'expired' | 'epoch' | 'ahead';
  offset: number;
}

/** `expired`: later events are no longer stored; `epoch`: a different log; `ahead`: beyond the end of this log. */
export function resumption(cursor: Cursor, log: { epoch: string; first: number; last: number }): Resumption {
  const { offset } = cursor;
  if (cursor.epoch !== log.epoch) return { recovered: false, reason: 'epoch', offset };
  if (offset > log.last) return { recovered: false, reason: 'ahead', offset };
  if (offset < log.first - 1) return { recovered: false, reason: 'expired', offset };
  return { recovered: true, offset };
}
