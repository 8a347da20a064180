import type { RunOutput } from '../../agent/output/asked-output.ts';
import { createApprovalExpiry } from '../../agent/run/approval/approval-expiry.ts';
import type { UnattendedPolicy } from '../../agent/run/approval/unattended-policy.ts';
import { limitTime, type TimeLimit } from '../../agent/run/limits/time-limit.ts';
import { USUAL_LIMITS } from '../../agent/run/limits/wrap-up.ts';
import { createRunModel } from '../../agent/run/model/run-model.ts';
import { runToEnd } from '../../agent/run/run.ts';
import type { RunContext, RunSettings } from '../../agent/run/run-context.ts';
import type { RunWindow } from '../../agent/run/window/run-window.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { Clock } from '../../clock.ts';
import { once } from '../../timing/once.ts';
import { chosenModel } from '../agents/chosen-model.ts';
import { subAgentsOf } from '../agents/drive-agent.ts';
import { readEarlierCalls } from '../history/earlier-calls.ts';
import { hooksOfRun } from '../hooks/hooks-of-run.ts';
import { decisionInTime, WITHDRAWN } from '../questions/decision-in-time.ts';
import { spenderOf } from '../queue/authors.ts';
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
  const { tracing, models } = deps;
  const toolbox = deps.coordinators.toolboxOf(data, deps.toolbox);
  const traced = traceRun({ wsId, runId, source, parent: request.traceparent }, { tracing, models, toolbox });
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
  const limit = timeoutMs ? limitRun(live, timeoutMs, clock) : undefined;
  try {
    const context: RunContext = {
      wsId: run.wsId,
      runId: run.runId,
      source: run.source,
      messages: live.messages,
      prefix: () => prefixOf(data),
      surroundings: deps.surroundings,
      templates: { nodeId: deps.nodeId, read: () => deps.templates.textFor(data) },
      trust: { read: () => readTrust(deps.store, run.wsId) },
      readAttachment: (attachment) => deps.attachments.readForModel(attachment),
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
      withdraw: (approvalId) => live.decide(approvalId, () => WITHDRAWN),
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
      budget: deps.budgets.forRun(spenderOf(run)),
      limits: USUAL_LIMITS,
      subAgents: undefined,
      coordination: deps.coordinators.coordinationOf(live, data),
      callIdSuffix: undefined,
      output: outputOf(live, deps),
      endedCommands: () => deps.background.records.untold(run.wsId),
      skills: once(() => deps.skills.now({ wsId: run.wsId, workdir: settings.workdir.path })),
      memories: deps.memories.agents.forRuns(run.wsId),
      isWatched: () => deps.events.isWatched(run.wsId),
      clock,
      ids: deps.ids,
      log,
    };
    context.subAgents = subAgentsOf({ context, depth: 0 }, { live, data, hooks, models: traced.models, deps });
    return await runToEnd(context);
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

/** Stops a run that exceeds its timeout. Time spent waiting for a person does not count. */
function limitRun(live: LiveRun, limitMs: number, clock: Clock): TimeLimit {
  const onOver = () => {
    const { reason } = live.waits;
    const waited = reason === undefined ? '' : `, because its model did not answer: ${reason}`;
    live.stop(new StopReason('timeout', `The run took longer than ${limitMs / 1000} s${waited}`));
  };
  return limitTime({ limitMs, stands: () => live.pendingApproval() !== undefined, onOver, clock });
}
