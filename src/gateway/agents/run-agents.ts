import type { Approval } from '../../../protocol/methods/approval.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { type AskedApproval, findAsked, newProgress, openCalls, pendingApproval } from '../../agent/run/journal.ts';
import { CANCELLED_BY_USER } from '../../agent/run/result-texts.ts';
import type { SubAgentTask } from '../../agent/subagents/sub-agents.ts';
import { Seats } from '../../timing/seats.ts';
import type { LiveRunDeps } from '../runs/live-run-deps.ts';
import { insertJournal } from '../runs/run-rows.ts';
import type { Statement } from '../store/store.ts';
import { chargeBrokenOff } from '../usage/reservation-rows.ts';
import type { AdoptedAgent } from './adopted-agent.ts';
import { type AgentHost, AgentRun } from './agent-run.ts';
import { AskingTurns } from './asking-turns.ts';
import { endAgentsOf, insertAgent, insertAgentMessage, type StoredAgent } from './sub-agent-rows.ts';

type Deps = Pick<LiveRunDeps, 'data' | 'questions' | 'always' | 'clock' | 'observer' | 'ids' | 'live'>;

/** A sub-agent that is about to start. */
export interface NewAgent {
  /** The sub-agent that starts it; undefined: the agent of the conversation. */
  parentId: string | undefined;
  callId: string;
  depth: number;
  task: SubAgentTask & { isTrusted: boolean };
}

/** The sub-agents of one run, at all depths. */
export class RunAgents {
  /** Who may work. */
  readonly seats: Seats;
  /** Who may ask: one of them, or the run. */
  readonly turns: AskingTurns;
  readonly #host: AgentHost;
  readonly #deps: Deps;
  /** By the call that started each. */
  readonly #agents = new Map<string, AgentRun>();
  #starting = 0;
  /** Some may have been left out, because they are damaged. */
  readonly #isAdopted: boolean;

  constructor(host: AgentHost, deps: Deps, adopted?: readonly AdoptedAgent[]) {
    this.#host = host;
    this.#isAdopted = adopted !== undefined;
    this.#deps = deps;
    this.turns = new AskingTurns(deps);
    this.seats = new Seats(() => deps.live.subAgents.parallel);
    // Parents first.
    for (const one of adopted?.toSorted((a, b) => a.stored.state.depth - b.stored.state.depth) ?? []) {
      const agent = this.#make(one);
      this.#add(agent);
      const asked = one.stored.end ? undefined : pendingApproval(one.progress);
      if (asked) this.turns.restore(agent.id, asked.approvalId);
    }
  }

  /** How many have been started, also by sub-agents. */
  get count(): number {
    return this.#agents.size + this.#starting;
  }

  /** Those that have not ended. */
  running(): AgentRun[] {
    return [...this.#agents.values()].filter(({ end }) => !end);
  }

  /** The tools that run now. */
  runningTools(): string[] {
    return this.running().flatMap(({ progress }) =>
      openCalls(progress).flatMap(({ id, name }) => (progress.tools.get(id)?.state === 'started' ? name : [])),
    );
  }

  find(parentId: string | undefined, callId: string): AgentRun | undefined {
    return this.#agents.get(nameOf(parentId, callId));
  }

  /** Also of those that have ended. */
  findAsked(approvalId: string): AskedApproval | undefined {
    return [...this.#agents.values()].flatMap(({ progress }) => findAsked(progress, approvalId) ?? []).at(0);
  }

  byId(agentId: string): AgentRun | undefined {
    return [...this.#agents.values()].find(({ id }) => id === agentId);
  }

  /** Stores it before it does anything. */
  async begin({ parentId, callId, depth, task }: NewAgent): Promise<AgentRun> {
    const { clock, ids } = this.#deps;
    const { run } = this.#host;
    const nowMs = clock.now();
    const stored: StoredAgent = {
      wsId: run.wsId,
      runId: run.runId,
      state: {
        agent_id: ids.id('agt'),
        call_id: callId,
        ...(parentId !== undefined && { parent_agent_id: parentId }),
        depth,
        title: task.title,
        state: 'waiting',
        ...(task.mode && { mode: task.mode }),
        ...(task.tools && { tools: [...task.tools] }),
        ...(task.model !== undefined && { model: task.model }),
        ...(task.timeoutMs !== undefined && { timeout_secs: Math.ceil(task.timeoutMs / 1_000) }),
        turns: 0,
        tool_calls: 0,
        tokens: 0,
        started_ms: nowMs,
      },
      task,
      prefix: undefined,
      cuts: [],
      end: undefined,
    };
    const first = {
      role: 'user' as const,
      content: task.prompt,
      ...(task.isTrusted && { trusted: true as const }),
    };
    const agentId = stored.state.agent_id;
    const statements = [
      insertAgent(stored),
      insertAgentMessage({ agentId, seq: 1 }, first, nowMs),
      insertJournal({ runId: agentId }, { kind: 'started' }, nowMs),
    ];
    const progress = { ...newProgress(), phase: 'started' as const };
    const agent = this.#make({ stored, progress, numbered: [{ seq: 1, message: first }] });
    this.#starting += 1;
    try {
      await this.#host.recordBeside({
        statements,
        events: [{ type: 'sub_agent', ...stored.state }],
        step: {},
        onStored: () => {
          this.#starting -= 1;
          this.#add(agent);
        },
      });
    } catch (error) {
      this.#starting -= 1;
      throw error;
    }
    return agent;
  }

  #make(adopted: AdoptedAgent): AgentRun {
    const { parent_agent_id: parentId } = adopted.stored.state;
    const parent = parentId === undefined ? undefined : this.byId(parentId);
    return new AgentRun(adopted, {
      host: this.#host,
      parent: parent ?? this.#host,
      turns: this.turns,
      deps: this.#deps,
    });
  }

  #add(agent: AgentRun): void {
    const { parent_agent_id: parentId, call_id: callId } = agent.state;
    this.#agents.set(nameOf(parentId, callId), agent);
  }

  /** The questions that people can answer now. */
  pendingApprovals(): Approval[] {
    return [...this.#agents.values()].flatMap((agent) => agent.pendingApproval() ?? []);
  }

  /** The one whose question it is. */
  findAsking(approvalId: string): AgentRun | undefined {
    return [...this.#agents.values()].find((agent) => agent.pendingApproval()?.approvalId === approvalId);
  }

  /** What is recorded with an end of the run that does not wait for them. */
  lastWords(nowMs: number): { events: StreamEvent[]; statements: Statement[] } {
    const left = this.running();
    if (left.length === 0 && !this.#isAdopted) return { events: [], statements: [] };
    return {
      events: left.flatMap((agent): StreamEvent[] => [
        ...this.#resolvedOf(agent),
        { type: 'sub_agent', ...agent.state, state: 'ended', outcome: 'cancelled', ended_ms: nowMs },
      ]),
      statements: [
        ...left.flatMap((agent) => {
          const asked = agent.pendingApproval();
          return (asked && this.#deps.questions.leave(asked.approvalId, agent.run)?.statements) ?? [];
        }),
        ...(left.length > 0 ? chargeBrokenOff(left.map(({ id }) => id)) : []),
        ...endAgentsOf(this.#host.run.runId, nowMs),
      ],
    };
  }

  #resolvedOf(agent: AgentRun): StreamEvent[] {
    const asked = agent.pendingApproval();
    if (!asked) return [];
    return [
      {
        type: 'approval_resolved',
        approval_id: asked.approvalId,
        approved: false,
        feedback: CANCELLED_BY_USER,
        by: { kind: 'cancel' },
        always: false,
        call_ids: asked.items.map(({ call_id }) => call_id),
        agent_id: agent.id,
      },
    ];
  }

  /** Call it after that was stored. */
  left(): void {
    const { data, observer, questions } = this.#deps;
    for (const agent of this.running()) {
      const asked = agent.pendingApproval();
      if (!asked) continue;
      const { approvalId, wsId, sessionKey } = asked;
      questions.settle(approvalId, agent.run, undefined);
      observer.onApprovalResolved(data, { approvalId, wsId, sessionKey, approved: false });
    }
  }
}

const nameOf = (parentId: string | undefined, callId: string): string => JSON.stringify([parentId ?? '', callId]);
