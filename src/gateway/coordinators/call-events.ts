import type { StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';
import type { Outcomes, Spawned } from '../../agent/coordinator/coordination.ts';
import type { WaitEnd } from '../../agent/coordinator/wait-end.ts';
import type { Clock } from '../../clock.ts';
import type { CoordinatorRun } from './coordinator-run.ts';

type Told = Pick<CoordinatorRun, 'emit'>;
/** What cannot be stored now is not told: the result of the call says what came of it. */
function tell(live: Told, event: StreamEvent): void {
  try {
    live.emit(event);
  } catch {
    // the next step of the run stores what was lost of its answer, or fails itself
  }
}

type Results = StreamEventOf<'wait_ended'>['results'];

/** Tells people of a call that makes several workstreams. `spawned`: what became of them so far. */
export async function tellSpawns(
  live: Told,
  { callId, spawned, total }: { callId: string; spawned: readonly Spawned[]; total: number },
  work: () => Promise<void>,
): Promise<void> {
  const batch = { call_id: callId, op: 'spawn_batch', total } as const;
  tell(live, { type: 'batch_started', ...batch });
  try {
    await work();
  } finally {
    const denied = spawned.filter((one) => 'problem' in one).length;
    tell(live, { type: 'batch_ended', ...batch, succeeded: spawned.length - denied, denied });
  }
}

/** Tells people of a call that closes several workstreams. */
export async function tellCloses(
  live: Told,
  { callId, total }: { callId: string; total: number },
  work: () => Promise<Outcomes>,
): Promise<Outcomes> {
  const batch = { call_id: callId, op: 'close_all_children', total } as const;
  let ended: Outcomes = { done: [], failed: [], skipped: [] };
  tell(live, { type: 'batch_started', ...batch });
  try {
    ended = await work();
    return ended;
  } finally {
    const [closed, failed, skipped] = [ended.done.length, ended.failed.length, ended.skipped.length];
    tell(live, { type: 'batch_ended', ...batch, closed, failed, skipped });
  }
}

interface Wait {
  callId: string;
  wsIds: readonly string[];
  all: boolean;
  timeoutMs: number;
  /** What has become of them by now. */
  results(): Results;
}

/** Tells people of a call that waits; `work` says when somebody it waits for may have changed. */
export async function tellWait(
  live: Told,
  { callId, wsIds, all, timeoutMs, results }: Wait,
  { clock, work }: { clock: Pick<Clock, 'monotonic'>; work: (onChange: () => void) => Promise<boolean> },
): Promise<WaitEnd> {
  const beganMs = clock.monotonic();
  const wait = { call_id: callId, ws_ids: [...wsIds] };
  let last = results();
  let complete = false;
  const elapsedMs = () => Math.round(clock.monotonic() - beganMs);
  const now = () => ({ ...wait, elapsed: elapsedMs() / 1_000, results: last, complete });
  tell(live, { type: 'wait_started', ...wait, mode: all ? 'all' : 'any', timeout_secs: Math.round(timeoutMs / 1_000) });
  try {
    complete = await work(() => {
      const next = results();
      if (JSON.stringify(next) === JSON.stringify(last)) return;
      last = next;
      tell(live, { type: 'wait_progress', ...now() });
    });
    return { isMet: complete, elapsedMs: elapsedMs() };
  } finally {
    last = results();
    tell(live, { type: 'wait_ended', ...now() });
  }
}
