import { type ApprovalPolicy, approvalMsOf } from '../../agent/run/approval-policy.ts';
import type { Decision } from '../../agent/run/journal.ts';
import { timedOutAfter } from '../../agent/run/result-texts.ts';
import { runToEnd } from '../../agent/run/run.ts';
import type { RunSettings } from '../../agent/run/run-context.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { Clock } from '../../clock.ts';
import { hasForeignText } from '../workstreams/always.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { WorkstreamDeps } from '../workstreams/workstream-deps.ts';
import type { LiveRun } from './live-run.ts';

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
      readAttachment: deps.readAttachment,
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
      approvalMs: approvalMs(live, deps),
      policy: policyOf(live),
      isWatched: () => deps.events.isWatched(run.wsId),
      clock,
      ids: deps.ids,
      log,
    });
  } finally {
    over.abort();
  }
}

/** A policy that lets calls through does not do so for what callers wrote who may not approve. */
function policyOf({ run, messages }: LiveRun): ApprovalPolicy | undefined {
  const { approval } = run.request;
  return approval?.mode === 'allow' && hasForeignText(messages) ? { ...approval, mode: 'withheld' } : approval;
}

const approvalMs = ({ run }: LiveRun, { live }: WorkstreamDeps): number =>
  approvalMsOf(run.request.approval, live.approvalMs);

const settingsOf = (live: LiveRun, data: WorkstreamData, deps: WorkstreamDeps): RunSettings => ({
  workdir: deps.workdirs.hold(data),
  get autoApprove() {
    return deps.always.covers(data.always, live);
  },
  get effort() {
    return live.run.request.effort ?? data.effort();
  },
  model: () => deps.models.resolve(data.modelAlias ?? undefined),
});

async function decisionInTime(live: LiveRun, approvalId: string, deps: WorkstreamDeps) {
  const answered = new AbortController();
  void expire(live, approvalId, { ...deps, over: AbortSignal.any([answered.signal, live.signal]) });
  try {
    return await live.decision(approvalId);
  } finally {
    answered.abort();
  }
}

const RETRY_MS = 1_000;

/**
 * Denies a question that nobody answered. Timers count waking time only, so an hour of a sleeping laptop is no hour
 * in which a person could have answered.
 */
async function expire(live: LiveRun, approvalId: string, deps: WorkstreamDeps & { over: AbortSignal }): Promise<void> {
  const { clock, log, over } = deps;
  const feedback = timedOutAfter(approvalMs(live, deps));
  const denial: Decision = { approved: false, feedback, always: false, by: { kind: 'timeout' } };
  let leftMs = Math.max(0, (live.pendingApproval()?.expiresAtMs ?? 0) - clock.now());
  for (;;) {
    try {
      await clock.sleep(leftMs, over);
    } catch {
      return; // decided or stopped in time
    }
    try {
      return await live.decide(approvalId, denial);
    } catch (error) {
      log.warn({ err: error, approvalId }, 'an approval could not be expired; trying again');
      leftMs = RETRY_MS;
    }
  }
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
  live.stop(new StopReason('timeout', `The run took longer than ${timeoutMs / 1000} s`));
}
