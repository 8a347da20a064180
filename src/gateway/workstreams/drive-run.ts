import { runToEnd } from '../../agent/run/run.ts';
import type { RunSettings } from '../../agent/run/run-context.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { Clock } from '../../clock.ts';
import type { LiveRun } from './live-run.ts';
import type { WorkstreamData } from './workstream-data.ts';
import type { WorkstreamDeps } from './workstream-deps.ts';

/** Runs the agent for a run that is on record, with the run's own clocks beside it. Never rejects. */
export async function driveRun(
  live: LiveRun,
  data: WorkstreamData,
  deps: WorkstreamDeps,
): Promise<'ended' | 'suspended' | 'superseded'> {
  const over = new AbortController();
  const { run } = live;
  const { clock, log } = deps;
  if (run.request.timeoutMs) void limitTime(live, run.request.timeoutMs, { clock, over: over.signal });
  try {
    return await runToEnd({
      wsId: run.wsId,
      runId: run.runId,
      source: run.source,
      messages: live.messages,
      get messageCount() {
        return data.messageCount;
      },
      progress: live.progress,
      recorder: live,
      settings: settingsOf(live, data, deps),
      toolbox: deps.toolbox,
      notSandboxed: deps.notSandboxed,
      signal: live.signal,
      stopping: deps.stopping,
      decision: (approvalId) => decisionInTime(live, approvalId, deps),
      approvalMs: deps.approvalMs,
      clock,
      ids: deps.ids,
      log,
    });
  } finally {
    over.abort();
  }
}

const settingsOf = (live: LiveRun, data: WorkstreamData, deps: WorkstreamDeps): RunSettings => ({
  workdir: data.workdir,
  get autoApprove() {
    return data.autoApprove;
  },
  get effort() {
    return live.run.request.effort ?? data.effort();
  },
  model: () => deps.models.resolve(data.modelAlias ?? undefined),
});

/** Timers count waking time only, so an hour of a sleeping laptop is no hour in which a person could have answered. */
async function decisionInTime(live: LiveRun, approvalId: string, { clock, approvalMs, log }: WorkstreamDeps) {
  const answered = new AbortController();
  const leftMs = Math.max(0, (live.pendingApproval()?.expiresAtMs ?? 0) - clock.now());
  const expiry = clock.sleep(leftMs, AbortSignal.any([answered.signal, live.signal])).then(
    () => live.decide(approvalId, { approved: false, feedback: timedOut(approvalMs), always: false, by: 'timeout' }),
    () => undefined, // decided or stopped in time
  );
  expiry.catch((error: unknown) => log.warn({ err: error, approvalId }, 'an approval could not be expired'));
  try {
    return await live.decision(approvalId);
  } finally {
    answered.abort();
  }
}

function timedOut(approvalMs: number): string {
  const hours = approvalMs / 3_600_000;
  const text = hours === 1 ? '1 hour' : hours > 1 ? `${Math.round(hours)} hours` : `${Math.round(approvalMs / 1000)} s`;
  return `Approval timed out after ${text}`;
}

const SLICE_MS = 1_000;

/** Stops a run that takes too long. The time a person takes to decide does not count. */
async function limitTime(live: LiveRun, timeoutMs: number, { clock, over }: { clock: Clock; over: AbortSignal }) {
  let leftMs = timeoutMs;
  while (leftMs > 0) {
    const sliceMs = Math.min(leftMs, SLICE_MS);
    try {
      await clock.sleep(sliceMs, over);
    } catch {
      return; // the run is over
    }
    if (!live.pendingApproval()) leftMs -= sliceMs;
  }
  live.stop(new StopReason('timeout', `The run took longer than ${Math.ceil(timeoutMs / 1000)} s`));
}
