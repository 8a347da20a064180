import type { ReadTaint } from '../../agent/run/approval/taint.ts';
import type { ToolOutcome } from '../../agent/tools/tool.ts';
import { evaluateStopOn, hasChanged } from '../../agent/watches/stop-on/evaluate.ts';
import { parseStopOn } from '../../agent/watches/stop-on/parse.ts';
import { StopOnError } from '../../agent/watches/stop-on/tokens.ts';
import type { WatchTable } from '../store/schema/watches/watch-schema.ts';
import { toEnded, type WatchEnding, type WatchResult } from './watch-rows.ts';
import { resultText } from './watch-text.ts';

/**
 * How long until the next poll; 0 if it is due. Polls are planned at most one interval ahead, so a later one was planned before
 * the clock was set back, and is due, too.
 */
export function untilDue(
  { next_poll_ms: dueMs, interval_secs: secs }: Pick<WatchTable, 'next_poll_ms' | 'interval_secs'>,
  nowMs: number,
): number {
  const inMs = (dueMs ?? nowMs) - nowMs;
  return inMs > secs * 1_000 ? 0 : Math.max(0, inMs);
}

/** The instants of the watch after a poll that begins now. Those that have passed are missed: nothing is polled twice for them. */
export function nextDue(
  { next_poll_ms: dueMs, interval_secs: secs, missed_polls: missed }: WatchTable,
  nowMs: number,
): Pick<WatchTable, 'last_poll_ms' | 'next_poll_ms' | 'missed_polls'> {
  const intervalMs = secs * 1_000;
  const passed = Math.floor((nowMs - (dueMs ?? nowMs)) / intervalMs);
  // After the clock was set back, the grid begins anew.
  const nextMs = passed < 0 ? nowMs + intervalMs : (dueMs ?? nowMs) + (passed + 1) * intervalMs;
  return { last_poll_ms: nowMs, next_poll_ms: nextMs, missed_polls: missed + Math.max(0, passed) };
}

/** Why a watch ends whose polls are used up. */
export const LAST_POLL = 'max polls reached';

/** The same after a poll that took longer than the interval: the next one is not made at once. */
export function afterPoll(
  { next_poll_ms: dueMs, interval_secs: secs, missed_polls: missed }: WatchTable,
  nowMs: number,
): Change {
  if (dueMs === null || dueMs > nowMs) return { updated_ms: nowMs };
  const intervalMs = secs * 1_000;
  const passed = Math.floor((nowMs - dueMs) / intervalMs) + 1;
  return { updated_ms: nowMs, next_poll_ms: dueMs + passed * intervalMs, missed_polls: missed + passed };
}

type Change = Partial<WatchTable>;

/** What a poll changes: the watch stays active, or ends with a result. */
export function conclude(
  row: WatchTable,
  { output, exitCode }: Pick<ToolOutcome, 'output' | 'exitCode'>,
  { nowMs, taint }: { nowMs: number; taint: ReadTaint | undefined },
): Change {
  const printed = { last_output: output, last_exit_code: exitCode ?? null, ...afterPoll(row, nowMs) };
  const ending = endingOf(row, { output, exitCode, before: row.last_output ?? undefined });
  if (!ending) return printed;
  return { ...printed, ...endedBy({ ...row, ...printed }, ending, { nowMs, hasOutput: true, taint }) };
}

function endingOf(
  { stop_on: stopOn, poll_count: count, max_polls: most }: WatchTable,
  found: { output: string; exitCode: number | undefined; before: string | undefined },
): WatchEnding | undefined {
  const last: WatchEnding | undefined = count >= most ? { end: 'max_polls', reason: LAST_POLL } : undefined;
  if (stopOn === null) return hasChanged(found) ? { end: 'fired', reason: 'output changed' } : last;
  try {
    return evaluateStopOn(parseStopOn(stopOn), found) ? { end: 'fired', reason: `condition met: ${stopOn}` } : last;
  } catch (error) {
    if (error instanceof StopOnError) return { end: 'condition_error', reason: `condition error: ${error.message}` };
    throw error;
  }
}

interface EndContext {
  nowMs: number;
  /** The output belongs into the message. */
  hasOutput: boolean;
  taint: ReadTaint | undefined;
}

/** The columns of a watch that ends by itself, with its message for the conversation, unless nobody has a right to send one. */
export function endedBy(row: WatchTable, ending: WatchEnding, { nowMs, hasOutput, taint }: EndContext): Change {
  const ended = toEnded(ending, nowMs);
  if (ending.end === 'rights' || ending.end === 'closed') return ended;
  const text = resultText({ ...row, ...ended }, ending.reason ?? ending.end, hasOutput);
  const result: WatchResult = { text, ...(taint && { taint }) };
  return { ...ended, result_json: JSON.stringify(result) };
}
