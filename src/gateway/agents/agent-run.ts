import { isDeepStrictEqual } from 'node:util';
import type { SubAgent } from '../../../protocol/events/sub-agent.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message } from '../../agent/message.ts';
import type { Prefix } from '../../agent/prefix/prefix.ts';
import { advance, type Decision, type Progress } from '../../agent/run/journal.ts';
import { RunWaits } from '../../agent/run/model/run-waits.ts';
import { type Recorder, RunSuperseded, type Step } from '../../agent/run/recorder.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { SubAgentEnd } from '../../agent/subagents/sub-agents.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { RunQuestions } from '../questions/run-questions.ts';
import type { LiveRunDeps } from '../runs/live-run-deps.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { Statement } from '../store/store.ts';
import type { AdoptedAgent } from './adopted-agent.ts';
import { AgentContext } from './agent-context.ts';
import { afterStep } from './agent-end.ts';
import { agentStatements } from './agent-statements.ts';
import type { AskingTurns } from './asking-turns.ts';
import { toAgentEvents } from './sub-agent-events.ts';
import { type StoredAgent, updateAgent } from './sub-agent-rows.ts';

/** What a sub-agent does in a step, for the run that it belongs to. */
export interface Beside {
  statements: Statement[];
  events: readonly StreamEvent[];
  step: Step;
  /** Applies it, before whoever waits for what is under way looks at the sub-agents. */
  onStored(): void;
}

/** The run that sub-agents belong to, as far as they use it. */
export interface AgentHost {
  run: RunRecord;
  signal: AbortSignal;
  stalled: Promise<void>;
  /** Stores it; refused like a step of the run when that was taken over. */
  recordBeside(unit: Beside): Promise<void>;
  emit(event: StreamEvent): void;
}

/** Whoever is stopped together with its sub-agents: the run, or a sub-agent. */
type Stopped = Pick<AgentHost, 'signal'>;

type Deps = Pick<LiveRunDeps, 'data' | 'questions' | 'always' | 'clock' | 'observer'>;

const byPerson = () => new StopReason('cancel', 'a person cancelled the sub-agent', { isByUser: true });

/** One sub-agent while its run is in memory: its recorder, its question and its context. */
export class AgentRun implements Recorder {
  /** As other parts know runs: the id is that of the sub-agent. */
  readonly run: RunRecord;
  readonly progress: Progress;
  readonly context: AgentContext;
  readonly waits = new RunWaits();
  readonly signal: AbortSignal;
  readonly #host: AgentHost;
  readonly #turns: AskingTurns;
  readonly #deps: Deps;
  readonly #questions: RunQuestions;
  readonly #stopping = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  /** Its steps are stored one after the other: each numbers its messages and counts on from the one before. */
  readonly #steps = createSerialKeys();
  #stored: StoredAgent;

  constructor(
    { stored, progress, numbered, pending }: AdoptedAgent,
    { host, parent, turns, deps }: { host: AgentHost; parent: Stopped; turns: AskingTurns; deps: Deps },
  ) {
    this.#host = host;
    this.#turns = turns;
    this.#deps = deps;
    this.#stored = stored;
    this.progress = progress;
    this.context = new AgentContext(numbered, stored.cuts);
    this.signal = AbortSignal.any([parent.signal, this.#stopping.signal]);
    if (stored.state.cancelled_by !== undefined) this.stop(byPerson());
    this.run = { ...host.run, runId: stored.state.agent_id };
    this.#questions = new RunQuestions(
      {
        run: this.run,
        progress,
        signal: this.signal,
        ended: this.#ended.promise,
        stalled: host.stalled,
        commit: (step, also) => this.#commit(step, also),
        agentId: this.id,
      },
      deps,
      pending,
    );
    if (stored.end) this.#ended.resolve();
  }

  get id(): string {
    return this.#stored.state.agent_id;
  }

  get state(): SubAgent {
    return this.#stored.state;
  }

  get task(): StoredAgent['task'] {
    return this.#stored.task;
  }

  /** Undefined: it has not ended. */
  get end(): SubAgentEnd | undefined {
    return this.#stored.end;
  }

  /** What its model reads. */
  get messages(): Message[] {
    return this.context.messages;
  }

  get prefix(): Prefix | undefined {
    return this.#stored.prefix;
  }

  record(step: Step): Promise<void> {
    const { approval } = step;
    if (!approval) return this.#commit(step, []);
    return this.#turns.ask(this, { ...step, approval }, (mine) => this.#commit(mine, []));
  }

  /** Its text is shown when the turn is over, because the streamed text of a conversation is that of its own agent. */
  emit(event: StreamEvent): void {
    for (const one of toAgentEvents([event], this.id)) this.#host.emit(one);
  }

  decision(approvalId: string): Promise<Decision> {
    return this.#questions.decision(approvalId);
  }

  pendingApproval(): Approval | undefined {
    return this.#questions.pendingApproval();
  }

  pendingApprovals(): Approval[] {
    const own = this.pendingApproval();
    return own ? [own] : [];
  }

  decide(approvalId: string, toDecision: () => Decision | undefined, also: Statement[] = []): Promise<void> {
    return this.#questions.decide(approvalId, toDecision, also);
  }

  follow(approvalId: string, decision: Decision): Promise<void> {
    return this.#questions.follow(approvalId, decision);
  }

  /** Resolves when its end is stored. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Stops it with its own sub-agents. */
  stop(reason: StopReason): void {
    this.#stopping.abort(reason);
  }

  /** A person stops it: stored first, so that it also ends after a crash. False: it had ended before. */
  async cancel(by: string): Promise<boolean> {
    if (this.end) return false;
    try {
      await this.#report(({ cancelled_by = by }) => ({ cancelled_by }));
    } catch (error) {
      if (error instanceof RunSuperseded) return false; // a forced cancel of the run was faster
      throw error;
    }
    this.stop(byPerson());
    return this.state.cancelled_by !== undefined;
  }

  /** It works now, or waits again for others. */
  report(state: 'waiting' | 'running'): Promise<void> {
    return this.#report(() => ({ state }));
  }

  #report(toNews: (state: SubAgent) => Partial<SubAgent>): Promise<void> {
    return this.#steps.run('', () => this.#storeNews(toNews(this.state)));
  }

  async #storeNews(news: Partial<SubAgent>): Promise<void> {
    const state = { ...this.state, ...news };
    if (this.end || isDeepStrictEqual(state, this.state)) return;
    const stored = { ...this.#stored, state };
    await this.#host.recordBeside({
      statements: [updateAgent(stored)],
      events: [{ type: 'sub_agent', ...stored.state }],
      step: {},
      onStored: () => {
        this.#stored = stored;
      },
    });
  }

  async #commit(step: Step, also: Statement[]): Promise<void> {
    const { settled } = step;
    // Before it waits for the steps before, one of which may be that decision.
    if (settled?.status === 'cancelled') await this.#questions.stillPending(settled.approvalId);
    await this.#steps.run('', () => this.#store(step, also));
  }

  async #store(whole: Step, also: Statement[]): Promise<void> {
    const { clock, questions } = this.#deps;
    const nowMs = clock.now();
    const { settled } = whole;
    const left = settled?.status === 'cancelled' ? questions.leave(settled.approvalId, this.run) : undefined;
    const step: Step = settled && left?.isElsewhere ? { ...whole, settled: { ...settled, isElsewhere: true } } : whole;
    const stored = afterStep(this.#stored, step, { messages: this.context.messages, nowMs });
    const isNews = stored.state !== this.#stored.state;
    const unit: Beside = {
      statements: [
        ...also,
        ...(left?.statements ?? []),
        ...agentStatements(step, { run: this.run, spender: this.#host.run, count: this.context.messageCount, nowMs }),
        ...(stored === this.#stored ? [] : [updateAgent(stored)]),
      ],
      events: [
        ...toAgentEvents(this.#turns.shown(this.id, step.events ?? []), this.id),
        ...(isNews ? [{ type: 'sub_agent', ...stored.state } as const] : []),
      ],
      step,
      onStored: () => this.#apply(step, stored),
    };
    try {
      await this.#host.recordBeside(unit);
    } catch (error) {
      left?.undo();
      throw error;
    }
  }

  #apply(step: Step, stored: StoredAgent): void {
    const { observer } = this.#deps;
    for (const entry of step.journal ?? []) {
      advance(this.progress, entry);
      if (entry.kind !== 'tool_started') continue;
      observer.onToolStarted(this.progress.calls.find(({ id }) => id === entry.callId)?.name ?? 'unknown');
    }
    this.context.apply(step);
    for (const spent of [step.summarized, step.usage]) if (spent) observer.onUsage(spent);
    this.#stored = stored;
    this.#questions.note(step);
    this.#turns.note(this.id, step);
    if (step.ended) this.#ended.resolve();
  }
}
