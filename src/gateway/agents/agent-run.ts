import type { SubAgent } from '../../../protocol/events/sub-agent.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message } from '../../agent/message.ts';
import type { Prefix } from '../../agent/prefix/prefix.ts';
import { advance, type Decision, type Progress } from '../../agent/run/journal.ts';
import { RunWaits } from '../../agent/run/model/run-waits.ts';
import type { Recorder, Step } from '../../agent/run/recorder.ts';
import { afterCut } from '../../agent/run/window/after-cut.ts';
import type { ContextCount, NumberedMessage } from '../../agent/run/window/run-window.ts';
import type { SubAgentEnd } from '../../agent/subagents/sub-agents.ts';
import { RunQuestions } from '../questions/run-questions.ts';
import type { LiveRunDeps } from '../runs/live-run-deps.ts';
import type { RunRecord } from '../runs/run-record.ts';
import { stepStatements } from '../runs/run-rows.ts';
import type { Statement } from '../store/store.ts';
import { chargeBrokenOff, forgetReservation } from '../usage/reservation-rows.ts';
import { addUsage } from '../usage/usage-rows.ts';
import type { AdoptedAgent } from './adopted-agent.ts';
import { afterStep } from './agent-end.ts';
import { toAgentEvents } from './sub-agent-events.ts';
import { insertAgentMessage, type StoredAgent, updateAgent } from './sub-agent-rows.ts';

/** What a sub-agent does in a step, for the run that it belongs to. */
export interface Beside {
  statements: Statement[];
  events: readonly StreamEvent[];
  step: Step;
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

/** Who may ask now: one sub-agent of a run at a time. */
export interface AskingTurns {
  take(agentId: string, approvalId: string): Promise<void>;
  end(agentId: string): void;
  /** A question of a sub-agent waits for its decision. */
  readonly isAsking: boolean;
}

type Deps = Pick<LiveRunDeps, 'data' | 'questions' | 'always' | 'clock' | 'observer'>;

/** One sub-agent while its run is in memory: its recorder, its question and its context. */
export class AgentRun implements Recorder {
  /** As other parts know runs: the id is that of the sub-agent. */
  readonly run: RunRecord;
  readonly progress: Progress;
  /** What its model reads. */
  readonly messages: Message[];
  readonly waits = new RunWaits();
  readonly signal: AbortSignal;
  readonly #host: AgentHost;
  readonly #turns: AskingTurns;
  readonly #deps: Deps;
  readonly #questions: RunQuestions;
  readonly #ended = Promise.withResolvers<void>();
  #stored: StoredAgent;
  #numbered: NumberedMessage[];
  #messageCount: number;
  #count: ContextCount | undefined;
  #window = 0;

  constructor(
    { stored, progress, numbered, pending }: AdoptedAgent,
    { host, turns, deps }: { host: AgentHost; turns: AskingTurns; deps: Deps },
  ) {
    this.#host = host;
    this.#turns = turns;
    this.#deps = deps;
    this.#stored = stored;
    this.progress = progress;
    this.#messageCount = numbered.at(-1)?.seq ?? 0;
    this.#numbered = stored.cuts.reduce(afterCut, numbered);
    this.messages = this.#numbered.map(({ message }) => message);
    this.signal = host.signal;
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

  get prefix(): Prefix | undefined {
    return this.#stored.prefix;
  }

  get messageCount(): number {
    return this.#messageCount;
  }

  /** See `RunWindow`. */
  get context(): { count: ContextCount | undefined; window: number; numbered: readonly NumberedMessage[] } {
    return { count: this.#count, window: this.#window, numbered: this.#numbered };
  }

  async record(step: Step): Promise<void> {
    if (!step.approval) return this.#commit(step, []);
    await this.#turns.take(this.id, step.approval.approvalId);
    try {
      await this.#commit(step, []);
    } catch (error) {
      this.#turns.end(this.id);
      throw error;
    }
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

  decide(approvalId: string, toDecision: () => Decision | undefined, also: Statement[] = []): Promise<void> {
    return this.#questions.decide(approvalId, toDecision, also);
  }

  follow(approvalId: string, decision: Decision): Promise<void> {
    return this.#questions.follow(approvalId, decision);
  }

  /** It works now, or waits again for others. */
  async report(state: 'waiting' | 'running'): Promise<void> {
    if (this.state.state === state || this.end) return;
    const stored = { ...this.#stored, state: { ...this.state, state } };
    await this.#host.recordBeside({
      statements: [updateAgent(stored)],
      events: [{ type: 'sub_agent', ...stored.state }],
      step: {},
    });
    this.#stored = stored;
  }

  async #commit(whole: Step, also: Statement[]): Promise<void> {
    const { clock, questions } = this.#deps;
    const nowMs = clock.now();
    const { settled } = whole;
    if (settled?.status === 'cancelled') await this.#questions.stillPending(settled.approvalId);
    const left = settled?.status === 'cancelled' ? questions.leave(settled.approvalId, this.run) : undefined;
    const step: Step = settled && left?.isElsewhere ? { ...whole, settled: { ...settled, isElsewhere: true } } : whole;
    const stored = afterStep(this.#stored, step, { messages: this.messages, nowMs });
    const isNews = stored.state !== this.#stored.state;
    const isOthersTurn = !step.approval && !step.settled && this.#turns.isAsking;
    const unit: Beside = {
      statements: [
        ...also,
        ...(left?.statements ?? []),
        ...this.#statements(step, nowMs),
        ...(stored === this.#stored ? [] : [updateAgent(stored)]),
      ],
      events: [
        ...toAgentEvents(step.events ?? [], this.id, { isOthersTurn }),
        ...(isNews ? [{ type: 'sub_agent', ...stored.state } as const] : []),
      ],
      step,
    };
    try {
      await this.#host.recordBeside(unit);
    } catch (error) {
      left?.undo();
      throw error;
    }
    this.#apply(step, stored);
  }

  #statements(step: Step, nowMs: number): Statement[] {
    const { journal, attachments, approval, assessments, verdicts, settled, reserved, trust } = step;
    const spender = this.#host.run;
    const own: Step = {
      ...(journal && { journal }),
      ...(attachments && { attachments }),
      ...(approval && { approval }),
      ...(assessments && { assessments }),
      ...(verdicts && { verdicts }),
      ...(settled && { settled }),
      ...(reserved && { reserved }),
      ...(trust && { trust }),
    };
    const toolCalls = (step.messages ?? []).reduce(
      (sum, message) => sum + (message.role === 'assistant' ? message.toolCalls.length : 0),
      0,
    );
    const spent = [step.summarized, step.usage && { ...step.usage, toolCalls }].filter((one) => one !== undefined);
    return [
      ...stepStatements(this.run, own, nowMs),
      ...(step.messages ?? []).map((message, index) =>
        insertAgentMessage({ agentId: this.id, seq: this.#messageCount + index + 1 }, message, nowMs),
      ),
      ...spent.flatMap((one) => [addUsage(spender, one, nowMs), forgetReservation(this.id)]),
      ...(step.ended ? chargeBrokenOff(this.id, spender.runId) : []),
    ];
  }

  #apply(step: Step, stored: StoredAgent): void {
    const { observer } = this.#deps;
    for (const entry of step.journal ?? []) {
      advance(this.progress, entry);
      if (entry.kind !== 'tool_started') continue;
      observer.onToolStarted(this.progress.calls.find(({ id }) => id === entry.callId)?.name ?? 'unknown');
    }
    if (step.cut) this.#applyCut(step.cut);
    for (const message of step.messages ?? []) {
      this.#messageCount += 1;
      this.#numbered.push({ seq: this.#messageCount, message });
      this.messages.push(message);
    }
    this.#noteUsage(step);
    this.#stored = stored;
    this.#questions.note(step);
    if (step.settled || step.ended) this.#turns.end(this.id);
    if (step.ended) this.#ended.resolve();
  }

  #noteUsage({ usage, summarized }: Step): void {
    for (const spent of [summarized, usage]) if (spent) this.#deps.observer.onUsage(spent);
    if (!usage) return;
    const { promptTokens, completionTokens } = usage.usage;
    this.#window = usage.contextWindow;
    const isCounted = promptTokens > 0 && usage.afterSeq !== undefined;
    this.#count = isCounted
      ? { tokens: promptTokens + completionTokens, afterSeq: usage.afterSeq ?? this.#messageCount }
      : undefined;
  }

  #applyCut(cut: NonNullable<Step['cut']>): void {
    this.#numbered = afterCut(this.#numbered, cut);
    this.messages.splice(0, this.messages.length, ...this.#numbered.map(({ message }) => message));
    this.#count = undefined;
  }
}
