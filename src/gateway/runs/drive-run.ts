import { GatewayError } from '../../../protocol/errors.ts';
import type { RunOutput } from '../../agent/output/asked-output.ts';
import { type ApprovalExpiry, createApprovalExpiry } from '../../agent/run/approval/approval-expiry.ts';
import type { UnattendedPolicy } from '../../agent/run/approval/unattended-policy.ts';
import type { Decision } from '../../agent/run/journal.ts';
import { createRunModel } from '../../agent/run/model/run-model.ts';
import { isUnavailable } from '../../agent/run/record-at-last.ts';
import { RunSuperseded } from '../../agent/run/recorder.ts';
import { runToEnd } from '../../agent/run/run.ts';
import type { RunSettings } from '../../agent/run/run-context.ts';
import type { RunWindow } from '../../agent/run/window/run-window.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { Clock } from '../../clock.ts';
import { until } from '../../timing/until.ts';
import { readEarlierCalls } from '../history/earlier-calls.ts';
import { hooksOfRun } from '../hooks/hooks-of-run.ts';
import { createSteering } from '../queue/steering.ts';
import { traceRun } from '../traces/traced-run.ts';
import { hasForeignText, isFull } from '../workstreams/always.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { WorkstreamDeps } from '../workstreams/workstream-deps.ts';
import type { LiveRun } from './live-run.ts';
import type { RunQueue } from './run-queue.ts';
import { summarizerOf } from './summarizer.ts';
import { readTrust } from './trust-rows.ts';

/** Executes a recorded run, with its timeouts. Never rejects. */
export async function driveRun(
  live: LiveRun,
  { data, queue }: { data: WorkstreamData; queue: RunQueue },
  deps: WorkstreamDeps,
): Promise<HowRunsStop> {
  const { wsId, runId, source, request } = live.run;
  const traced = traceRun({ wsId, runId, source, parent: request.traceparent }, deps);
  const how = await drive(live, { data, queue, traced }, deps);
  if (how === 'ended') void live.ended.then(({ status }) => traced.end(status));
  else traced.end(how);
  return how;
}

type HowRunsStop = Awaited<ReturnType<typeof runToEnd>>;
/** What the run works with, perhaps with spans. */
type UsedParts = Pick<WorkstreamDeps, 'models' | 'toolbox'>;

async function drive(
  live: LiveRun,
  { data, queue, traced }: { data: WorkstreamData; queue: RunQueue; traced: UsedParts },
  deps: WorkstreamDeps,
): Promise<HowRunsStop> {
  const { run } = live;
  const { runId } = run;
  const { clock, log } = deps;
  const expiry = createApprovalExpiry({ policy: run.request.approval, usualMs: deps.live.approvalMs, clock, log });
  const { timeoutMs } = run.request;
  const settings = settingsOf(live, data, { deps, models: traced.models });
  const { hooks, recorder } = hooksOfRun(live, { data, workdir: settings.workdir }, deps);
  const limit = timeoutMs ? limitTime(live, timeoutMs, clock) : undefined;
  try {
    return await runToEnd({
      wsId: run.wsId,
      runId: run.runId,
      source: run.source,
      messages: live.messages,
      prefix: () => prefixOf(data),
      surroundings: deps.surroundings,
      templates: { nodeId: deps.nodeId, read: () => deps.templates.textFor(data) },
      trust: { read: () => readTrust(deps.store, run.wsId) },
      readAttachment: (attachment) => deps.attachments.read(attachment),
      keepImages: (images) => deps.attachments.hold({ wsId: run.wsId, principal: run.principal }, images),
      get messageCount() {
        return data.messageCount;
      },
      earlierCalls: () => readEarlierCalls(deps.store, data, live.messages),
      window: windowOf(live, data, { deps, models: traced.models }),
      progress: live.progress,
      recorder,
      hooks,
      steering: createSteering({ live, data, queue, observer: deps.observer }),
      settings,
      toolbox: traced.toolbox,
      notSandboxed: deps.notSandboxed,
      signal: live.signal,
      stopping: deps.stopping,
      decision: (approvalId) => decisionInTime(live, approvalId, { expiry, deps }),
      expiry,
      get policy() {
        return policyOf(live); // a message may have come that a caller without the approve scope wrote
      },
      get rules() {
        return deps.rules.of(data); // a change counts for the next call
      },
      get judge() {
        return deps.judge.forRun(live, data, { toolbox: traced.toolbox, workdir: settings.workdir }); // its settings may change
      },
      checkpoint: deps.checkpoints.of(runId, data, settings.workdir),
      isTimeShort: () => limit?.isShort() ?? false,
      budget: deps.budgets.forRun(run),
      output: outputOf(live, deps),
      endedCommands: () => deps.background.records.untold(run.wsId),
      relevantMemories: (look) => deps.memories.agents.relevant(run.wsId, look),
      isWatched: () => deps.events.isWatched(run.wsId),
      clock,
      ids: deps.ids,
      log,
    });
  } finally {
    limit?.end();
  }
}

/**
 * A policy that allows calls does not apply while the conversation contains text from callers without the approve
 * scope.
 */
function policyOf({ run, messages }: LiveRun): UnattendedPolicy | undefined {
  const { approval } = run.request;
  return approval?.mode === 'allow' && hasForeignText(messages) ? { ...approval, mode: 'withheld' } : approval;
}

/** The schema that the answer has to fit. It counts as much as the message that it came with. */
function outputOf({ run }: LiveRun, { outputChecks }: WorkstreamDeps): RunOutput | undefined {
  const { outputSchema: schema, rights } = run.request;
  if (!schema) return undefined;
  const check: RunOutput['check'] = (text, signal) => outputChecks.check({ schema, text }, signal);
  return { schema, isTrusted: rights === 'approve', check };
}

/** Undefined after a cut. */
const prefixOf = ({ prefix: stored, contextAfterSeq }: WorkstreamData) =>
  stored?.afterSeq === contextAfterSeq ? stored.prefix : undefined;

interface ModelParts extends Pick<UsedParts, 'models'> {
  deps: WorkstreamDeps;
}

/** A change of the model or the effort takes effect with the next run, because some models cannot continue a turn of another. */
function settingsOf(live: LiveRun, data: WorkstreamData, { deps, models }: ModelParts): RunSettings {
  const modelAlias = chosenModel(live, data);
  return {
    workdir: deps.workdirs.hold(data),
    get autoApprove() {
      return data.always !== undefined && isFull(data.always) && deps.always.covers(data.always, live);
    },
    get approvedTools() {
      return deps.always.covers(data.always, live) ? (data.always?.tools ?? []) : [];
    },
    get mode() {
      if (data.isReadOnly) return 'read_only';
      return (deps.always.covers(data.always, live) ? data.always?.mode : undefined) ?? 'ask';
    },
    sampling: samplingOf(data),
    get effort() {
      return live.run.request.effort ?? live.progress.effort ?? data.effort();
    },
    model: createRunModel({
      models,
      chosen: () => modelAlias,
      progress: live.progress,
      recorder: live,
      waits: live.waits,
      clock: deps.clock,
      log: deps.log,
    }),
  };
}

/** As the workstream template says. */
function samplingOf({ templates }: WorkstreamData): RunSettings['sampling'] {
  const { temperature, maxTokens } = templates ?? NO_TEMPLATES;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
  };
}

const NO_TEMPLATES = { temperature: undefined, maxTokens: undefined };

/** The model that the run began with. Runs of earlier versions did not record it. */
const chosenModel = ({ progress: { model } }: LiveRun, { modelAlias }: WorkstreamData): string | undefined =>
  (model === undefined ? modelAlias : model) ?? undefined;

const windowOf = (live: LiveRun, data: WorkstreamData, { deps, models }: ModelParts): RunWindow => ({
  windows: deps.windows,
  lastCount() {
    if (data.usage?.afterSeq === undefined) return undefined;
    const { promptTokens, completionTokens } = data.usage.usage;
    if (promptTokens === 0) return undefined; // the server does not count
    return { tokens: promptTokens + completionTokens, afterSeq: data.usage.afterSeq };
  },
  lastWindow: () => data.usage?.contextWindow ?? 0,
  read: () => deps.readNumbered(data),
  onSummary: (phase) => deps.observer.onSummary(data, phase),
  summarizer: (account) =>
    summarizerOf(live.progress.fallback ?? chosenModel(live, data), account, {
      models,
      recorder: live,
      waits: live.waits,
      clock: deps.clock,
      log: deps.log,
    }),
});

async function decisionInTime(
  live: LiveRun,
  approvalId: string,
  { expiry, deps }: { expiry: ApprovalExpiry; deps: WorkstreamDeps },
): Promise<Decision> {
  const answered = new AbortController();
  const expiresAtMs = live.pendingApproval()?.expiresAtMs;
  const shared = deps.budgets.questions.answerTo(approvalId);
  const deny = (denial: Decision) =>
    live
      .decide(approvalId, () => denial)
      .catch((error: unknown) => {
        if (!shared || !isConflict(error)) throw error; // another run has just recorded the same
      });
  const over = AbortSignal.any([answered.signal, live.signal]);
  if (shared) void follow(live, { approvalId, answer: shared, over, deps });
  void expiry.enforce({ approvalId, expiresAtMs, deny }, over);
  try {
    return await live.decision(approvalId);
  } finally {
    answered.abort('answered');
  }
}

const isConflict = (error: unknown) => error instanceof GatewayError && error.code === 'CONFLICT';

const RETRY_MS = 1_000;

/** Records the answer to a question that other runs share, as soon as it is given to any of them. Never rejects. */
async function follow(
  live: LiveRun,
  asked: {
    approvalId: string;
    answer: Promise<Decision>;
    over: AbortSignal;
    deps: Pick<WorkstreamDeps, 'clock' | 'log'>;
  },
): Promise<void> {
  const { approvalId, over, deps } = asked;
  try {
    const decision = await until(asked.answer, over);
    for (;;) {
      try {
        return await live.follow(approvalId, decision);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        deps.log.warn({ err: error, approvalId }, 'a decision could not be recorded for a run; retrying');
      }
      await deps.clock.sleep(RETRY_MS, over);
    }
  } catch (error) {
    if (over.aborted || error instanceof RunSuperseded) return;
    deps.log.error({ err: error, approvalId }, 'a run could not follow a decision');
  }
}

const SLICE_MS = 1_000;

/** The time for the model to finish: a tenth of the limit, at most this. */
const MOST_TO_FINISH_MS = 60_000;

/** Stops a run that exceeds its timeout. Time spent waiting for a person does not count. */
function limitTime(live: LiveRun, timeoutMs: number, clock: Clock) {
  const over = new AbortController();
  let leftMs = timeoutMs;
  const countDown = async () => {
    while (leftMs > 0) {
      const sliceMs = Math.min(leftMs, SLICE_MS);
      try {
        await clock.sleep(sliceMs, over.signal);
      } catch {
        return; // the run is over
      }
      if (!live.pendingApproval()) leftMs -= sliceMs;
    }
    const { reason } = live.waits;
    const waited = reason === undefined ? '' : `, because its model did not answer: ${reason}`;
    live.stop(new StopReason('timeout', `The run took longer than ${timeoutMs / 1000} s${waited}`));
  };
  void countDown();
  return { isShort: () => leftMs <= Math.min(MOST_TO_FINISH_MS, timeoutMs / 10), end: () => over.abort('ended') };
}
