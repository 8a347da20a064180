import type { RunHooks } from '../../agent/hooks/hooked-run.ts';
import { NO_RUN_MEMORIES } from '../../agent/memory/memory-source.ts';
import type { Models } from '../../agent/providers/model.ts';
import { createApprovalExpiry } from '../../agent/run/approval/approval-expiry.ts';
import { taintIn } from '../../agent/run/approval/taint.ts';
import { limitTime, type TimeLimit } from '../../agent/run/limits/time-limit.ts';
import { createRunModel } from '../../agent/run/model/run-model.ts';
import type { Recorder } from '../../agent/run/recorder.ts';
import { runToEnd } from '../../agent/run/run.ts';
import type { RunContext, RunLimits, RunSettings } from '../../agent/run/run-context.ts';
import type { RunWindow } from '../../agent/run/window/run-window.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import { CallInterrupted } from '../../agent/subagents/call-interrupted.ts';
import { mayHave, narrowedRights, narrowedToolbox, toolsForSubAgents } from '../../agent/subagents/narrow-rights.ts';
import { Seat } from '../../agent/subagents/seat.ts';
import { SUB_AGENT_PROMPT } from '../../agent/subagents/sub-agent-prompt.ts';
import {
  MAX_DEPTH,
  MAX_PER_RUN,
  type SubAgentEnd,
  type SubAgents,
  type SubAgentTask,
} from '../../agent/subagents/sub-agents.ts';
import { decisionInTime, WITHDRAWN } from '../questions/decision-in-time.ts';
import { spenderOf } from '../queue/authors.ts';
import type { LiveRun } from '../runs/live-run.ts';
import { summarizerOf } from '../runs/summarizer.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { WorkstreamDeps } from '../workstreams/workstream-deps.ts';
import { modelOfAgent, whyNotModel } from './agent-model.ts';
import type { AgentRun } from './agent-run.ts';

/** An agent that may start sub-agents. */
interface Parent {
  context: RunContext;
  depth: number;
  /** Of a sub-agent. */
  own?: { agentId: string; seat: Seat; model: string | undefined };
}

/** The run that all of them belong to. */
interface Family {
  live: LiveRun;
  data: WorkstreamData;
  hooks: RunHooks;
  models: Models;
  deps: WorkstreamDeps;
}

/** Starts the sub-agents of an agent, and those that a restart interrupted again. */
export const subAgentsOf = (parent: Parent, family: Family): SubAgents => ({
  whyNot() {
    if (parent.depth >= MAX_DEPTH) return `Sub-agents can be nested ${MAX_DEPTH} deep, and you are at that depth.`;
    return whyNoMore(family.live);
  },
  hasStarted: (callId) => family.live.agents.find(parent.own?.agentId, callId) !== undefined,
  whyNotModel(alias) {
    const { live, data, models } = family;
    return whyNotModel(alias, { own: modelOfAgent({ task: { model: parent.own?.model } }, { live, data }), models });
  },
  get maxTimeoutMs() {
    return family.deps.live.subAgents.maxTimeoutMs;
  },
  canHave: (tool) => mayHave(parent.context.toolbox, tool),
  get tools() {
    return toolsForSubAgents(parent.context.toolbox);
  },
  run(callId, task) {
    const work = () => runOne({ parent, callId, task }, family);
    return parent.own ? parent.own.seat.whileWaiting(work) : work();
  },
});

const whyNoMore = ({ agents }: LiveRun): string | undefined =>
  agents.count < MAX_PER_RUN ? undefined : `This run has started ${MAX_PER_RUN} sub-agents; it can start no more.`;

interface Asked {
  parent: Parent;
  callId: string;
  task: SubAgentTask;
}

async function runOne({ parent, callId, task }: Asked, family: Family): Promise<SubAgentEnd | { refused: string }> {
  const { live } = family;
  const parentId = parent.own?.agentId;
  const isTrusted = taintIn(parent.context.messages) === undefined;
  const model = task.model ?? parent.own?.model;
  const begun = { parentId, callId, depth: parent.depth + 1, task: { ...task, model, isTrusted } };
  const known = live.agents.find(parentId, callId);
  const refused = known ? undefined : whyNoMore(live); // the calls of a turn are prepared together
  if (refused !== undefined) return { refused };
  const agent = known ?? (await live.agents.begin(begun));
  if (agent.end) return agent.end; // before a restart, which interrupted only the report of its end
  const seat = new Seat(live.agents.seats, agent.signal);
  let limit: TimeLimit | undefined;
  try {
    await seat.take().catch(() => undefined); // one that is stopped has its end recorded, too
    if (!agent.signal.aborted) await agent.report('running');
    limit = limitAgent(agent, family);
    const how = await runToEnd(contextOf(agent, { parent, seat, limit }, family));
    if (how !== 'ended' || !agent.end) throw new CallInterrupted(`its sub-agent is ${how}`);
    return agent.end;
  } finally {
    limit?.end();
    seat.leave();
  }
}

/** While a person is asked, the time of all sub-agents of the run stands still, as that of the run does. */
function limitAgent(agent: AgentRun, { live, deps }: Family): TimeLimit | undefined {
  const { timeoutMs: limitMs } = agent.task;
  if (limitMs === undefined) return undefined;
  const onOver = () => agent.stop(new StopReason('timeout', `The sub-agent took longer than ${limitMs / 1_000} s`));
  return limitTime({ limitMs, stands: () => live.pendingApproval() !== undefined, onOver, clock: deps.clock });
}

interface Place {
  parent: Parent;
  seat: Seat;
  limit: TimeLimit | undefined;
}

/** What a sub-agent works with: its own conversation, and the rights of its parent or fewer. */
function contextOf(agent: AgentRun, { parent: of, seat, limit }: Place, family: Family): RunContext {
  const { live, data, hooks, models, deps } = family;
  const { context: parent } = of;
  const { clock, log } = deps;
  const { task } = agent;
  const depth = of.depth + 1;
  const expiry = createApprovalExpiry({ policy: live.run.request.approval, usualMs: deps.live.approvalMs, clock, log });
  const toolbox = narrowedToolbox(parent.toolbox, { only: task.tools, isDeepest: depth >= MAX_DEPTH });
  const context: RunContext = {
    wsId: parent.wsId,
    runId: agent.id,
    source: parent.source,
    messages: agent.context.messages,
    prefix: () => agent.prefix,
    surroundings: parent.surroundings,
    templates: { nodeId: parent.templates.nodeId, read: async () => SUB_AGENT_PROMPT },
    trust: parent.trust,
    readAttachment: parent.readAttachment,
    keepImages: parent.keepImages,
    get messageCount() {
      return agent.context.messageCount;
    },
    earlierCalls: async () => agent.context.earlierCalls,
    callIdSuffix: `_${agent.id.slice(-6)}`,
    window: windowOf(agent, family),
    progress: agent.progress,
    recorder: recorderOf(agent, seat, hooks),
    steering: { handOver: (record) => record([]) }, // people write to the agent of the conversation
    settings: settingsOf(agent, parent.settings, { live, data, models, deps }),
    toolbox,
    notSandboxed: parent.notSandboxed,
    signal: agent.signal,
    stopping: parent.stopping,
    decision: (approvalId) => seat.whileWaiting(() => decisionInTime(agent, approvalId, { expiry, deps })),
    withdraw: (approvalId) => agent.decide(approvalId, () => WITHDRAWN),
    expiry,
    get policy() {
      return parent.policy;
    },
    get rules() {
      return parent.rules;
    },
    get judge() {
      return deps.judge.forRun(agent, data, { toolbox, workdir: parent.settings.workdir });
    },
    checkpoint: { before: () => parent.checkpoint.before(), ended: async () => undefined },
    hooks,
    isTimeShort: () => limit?.isShort() === true || parent.isTimeShort(),
    budget: deps.budgets.forRun({ ...spenderOf(live.run), agentId: agent.id }),
    limits: limitsOf(agent),
    subAgents: undefined,
    coordination: undefined,
    output: undefined,
    endedCommands: async () => [], // the agent of the conversation hears of them
    skills: async () => undefined, // the task says what is to be done; the tool skill finds others
    memories: NO_RUN_MEMORIES, // they were shown with the message of the person
    isWatched: () => parent.isWatched(),
    clock,
    ids: deps.ids,
    log,
  };
  context.subAgents = subAgentsOf({ context, depth, own: { agentId: agent.id, seat, model: task.model } }, family);
  return context;
}

/** Only one sub-agent asks at a time; while one waits for that, others may work. */
const recorderOf = (agent: AgentRun, seat: Seat, hooks: RunHooks): Recorder => ({
  async record(step) {
    const { approval } = step;
    await (approval ? seat.whileWaiting(() => agent.record(step)) : agent.record(step));
    if (approval && !approval.isJoined) hooks.onAttention(approval);
  },
  emit: (event) => agent.emit(event),
});

const limitsOf = (agent: AgentRun): RunLimits => ({
  turns: agent.task.maxTurns,
  isOutOfTokens: () => agent.task.maxTokens !== undefined && agent.state.tokens >= agent.task.maxTokens,
});

type Modelled = Omit<Family, 'hooks'>;

function settingsOf(agent: AgentRun, parent: RunSettings, { live, data, models, deps }: Modelled): RunSettings {
  const rights = narrowedRights(parent, agent.task.mode);
  const modelAlias = modelOfAgent(agent, { live, data });
  return {
    workdir: parent.workdir,
    get autoApprove() {
      return rights.autoApprove;
    },
    get approvedTools() {
      return rights.approvedTools ?? [];
    },
    get mode() {
      return rights.mode ?? 'ask';
    },
    sampling: parent.sampling,
    get effort() {
      return parent.effort;
    },
    model: createRunModel({
      models,
      chosen: () => modelAlias,
      progress: agent.progress,
      recorder: agent,
      waits: agent.waits,
      clock: deps.clock,
      log: deps.log,
    }),
  };
}

const windowOf = (agent: AgentRun, { live, data, models, deps }: Family): RunWindow => ({
  windows: deps.windows,
  lastCount: () => agent.context.count,
  lastWindow: () => agent.context.window,
  read: async () => [...agent.context.numbered],
  onSummary: () => undefined, // clients show summaries of the conversation
  summarizer: (account) =>
    summarizerOf(agent.progress.fallback ?? modelOfAgent(agent, { live, data }), account, {
      models,
      recorder: agent,
      waits: agent.waits,
      clock: deps.clock,
      log: deps.log,
    }),
});
