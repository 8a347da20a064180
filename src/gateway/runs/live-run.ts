import type { Approval } from '../../../protocol/methods/approval.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message } from '../../agent/message.ts';
import { markOf } from '../../agent/prefix/environment-mark.ts';
import { advance, type Decision, findAsked, type Progress } from '../../agent/run/journal.ts';
import { RunWaits } from '../../agent/run/model/run-waits.ts';
import { type Recorder, RunSuperseded, type Step } from '../../agent/run/recorder.ts';
import { isUnavailable } from '../../is-unavailable.ts';
import type { Beside } from '../agents/agent-run.ts';
import { RunAgents } from '../agents/run-agents.ts';
import { prepareContextCut } from '../cuts/context-cut.ts';
import { RunQuestions } from '../questions/run-questions.ts';
import type { Statement } from '../store/store.ts';
import { addTokens } from '../usage/last-usage.ts';
import { Deltas } from './deltas.ts';
import { actedBy, firstStepOf } from './first-step.ts';
import type { LiveRunDeps } from './live-run-deps.ts';
import type { AdoptedRun, RunRecord, RunResult } from './run-record.ts';
import { fence, setWorkstream, stepStatements, toRunError } from './run-rows.ts';

/** One run while it is in memory: its recorder, its pending approval, and its cancellation. */
export class LiveRun implements Recorder {
  readonly run: RunRecord;
  readonly progress: Progress;
  readonly messages: Message[];
  /** Resolves with the final record; never rejects. */
  readonly ended: Promise<RunResult>;
  /** Resolves when the run was stopped and only its end is left to record, which the store currently refuses. */
  readonly stalled: Promise<void>;
  /** Resolves when its worker has left it for the next process. */
  readonly suspended: Promise<void>;
  /** Its sub-agents. */
  readonly agents: RunAgents;
  /** Its waits for the model. */
  readonly waits = new RunWaits();
  readonly #deps: LiveRunDeps;
  readonly #stopping = new AbortController();
  readonly #ended = Promise.withResolvers<RunResult>();
  readonly #stalled = Promise.withResolvers<void>();
  readonly #suspended = Promise.withResolvers<void>();
  /** The store refused the latest step. */
  #isRefused = false;
  #superseded = false;
  /** Set while the final step is written. Steps of the worker wait until it is known whether they still count. */
  #superseding: Promise<void> | undefined;
  /** Steps that are being committed. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #deltas: Deltas;
  readonly #questions: RunQuestions;
  /** The model's text in the current turn. */
  #partial = '';

  constructor({ run, progress, pending, agents }: AdoptedRun, deps: LiveRunDeps) {
    this.#deps = deps;
    this.ended = this.#ended.promise;
    this.stalled = this.#stalled.promise;
    this.suspended = this.#suspended.promise;
    this.run = run;
    this.progress = progress;
    this.messages = deps.messages;
    this.#questions = new RunQuestions(
      {
        run,
        progress,
        signal: this.signal,
        ended: this.ended,
        stalled: this.stalled,
        commit: (step, also) => this.#commit(step, also),
      },
      deps,
      pending,
    );
    this.agents = new RunAgents(this, deps, agents);
    if (pending) this.agents.turns.restore(run.runId, pending.approvalId);
    const { wsId } = run;
    this.#deltas = new Deltas((event) => deps.store.commit({ events: { wsId, events: [event] } }));
  }

  /** Aborts with the reason passed to `stop`. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  stop(reason: Error): void {
    this.#stopping.abort(reason);
    if (this.#isRefused) this.#stalled.resolve();
  }

  /** Its worker has left it for the next process. */
  suspend(): void {
    this.#suspended.resolve();
  }

  record(step: Step): Promise<void> {
    const { approval } = step;
    if (!approval) return this.#record(step);
    const asker = { id: this.run.runId, signal: this.signal };
    return this.agents.turns.ask(asker, { ...step, approval }, (mine) => this.#record(mine));
  }

  #record(step: Step): Promise<void> {
    return this.#whileOwn(async () => {
      this.#deltas.throwFailure();
      try {
        await this.#write(step, []);
        this.#isRefused = false;
      } catch (error) {
        this.#isRefused = isUnavailable(error);
        if (this.#isRefused && this.signal.aborted) this.#stalled.resolve();
        throw error;
      }
    });
  }

  /** Stores what one of its sub-agents does. Refused like a step when the run was taken over. */
  recordBeside(unit: Beside): Promise<void> {
    return this.#whileOwn(() => this.#writeBeside(unit));
  }

  /** Nothing may come between the look and the write: whoever takes the run over waits only for what is under way. */
  async #whileOwn(write: () => Promise<void>): Promise<void> {
    while (this.#superseding !== undefined) await this.#superseding.catch(() => undefined); // its caller gets the error
    if (this.#superseded) throw new RunSuperseded('the run was taken over');
    await this.#track(write());
  }

  emit(event: StreamEvent): void {
    if (this.#superseded || this.#superseding !== undefined) return;
    this.#deltas.tell(event);
    if (event.type === 'content') this.#partial += event.text;
  }

  /** The first step: commits the message, the run, `statements` and earlier events in one transaction. */
  begin(statements: Statement[], earlier: StreamEvent[] = []): Promise<void> {
    const { messageCount, modelAlias: model } = this.#deps.data;
    const effort = this.#deps.data.effort();
    const { step, statements: consumed } = firstStepOf(this.run, { seq: messageCount + 1, model, effort });
    const events = [...earlier, ...(step.events ?? [])];
    return this.#commit({ ...step, events }, [...statements, ...consumed]);
  }

  /** The answer in progress, as far as it was shown; undefined between answers. */
  partialAnswer(): Message | undefined {
    if (this.#partial === '') return undefined;
    return { role: 'assistant', content: this.#partial, toolCalls: [], partial: true };
  }

  /** Rejects with the stop reason. */
  decision(approvalId: string): Promise<Decision> {
    return this.#questions.decision(approvalId);
  }

  /** The stored decision on a question of the run or of one of its sub-agents. */
  decisionOn(approvalId: string): Decision | undefined {
    return (findAsked(this.progress, approvalId) ?? this.agents.findAsked(approvalId))?.decision;
  }

  /** The question that people can answer now: of the run, or of one of its sub-agents. */
  pendingApproval(): Approval | undefined {
    return this.pendingApprovals()[0];
  }

  /** There is more than one only after a restart. */
  pendingApprovals(): Approval[] {
    const own = this.#questions.pendingApproval();
    const all = [...(own ? [own] : []), ...this.agents.pendingApprovals()];
    return all.filter(({ approvalId }, index) => all.findIndex((one) => one.approvalId === approvalId) === index);
  }

  /** See `RunQuestions.decide`. */
  decide(approvalId: string, toDecision: () => Decision | undefined, also: Statement[] = []): Promise<void> {
    const asker = this.agents.findAsking(approvalId) ?? this.#questions;
    return asker.decide(approvalId, toDecision, also);
  }

  /** See `RunQuestions.follow`. */
  follow(approvalId: string, decision: Decision): Promise<void> {
    return this.#questions.follow(approvalId, decision);
  }

  /**
   * Takes the run away from its worker, whose further steps are refused. Steps that are being committed count and
   * change what is left to record, so `lastWord` is called after them.
   */
  async supersede(lastWord: () => Step): Promise<void> {
    if (this.#superseded || this.#superseding !== undefined) throw new RunSuperseded('the run was taken over');
    this.#superseding = this.#takeOver(lastWord);
    try {
      await this.#superseding;
    } finally {
      this.#superseding = undefined;
    }
  }

  async #takeOver(lastWord: () => Step): Promise<void> {
    await Promise.allSettled(this.#underWay);
    const epoch = this.run.epoch + 1;
    await this.#commit(lastWord(), [setWorkstream(this.run.wsId, { run_epoch: epoch })]);
    this.#superseded = true;
    this.#deps.data.epoch = epoch;
  }

  #commit(step: Step, also: Statement[]): Promise<void> {
    return this.#track(this.#write(step, also));
  }

  async #track(writing: Promise<void>): Promise<void> {
    this.#underWay.add(writing);
    try {
      await writing;
    } finally {
      this.#underWay.delete(writing);
    }
  }

  async #write(whole: Step, also: Statement[]): Promise<void> {
    const { data, store, clock, questions, loadContext } = this.#deps;
    const nowMs = clock.now();
    const { settled } = whole;
    if (settled?.status === 'cancelled') await this.#questions.stillPending(settled.approvalId);
    const left = settled?.status === 'cancelled' ? questions.leave(settled.approvalId, this.run) : undefined;
    const step: Step = {
      ...whole,
      ...(whole.events && { events: [...this.agents.turns.shown(this.run.runId, whole.events)] }),
      ...(settled && left?.isElsewhere && { settled: { ...settled, isElsewhere: true } }),
    };
    const cut = step.cut && (await prepareContextCut(data, step.cut, { store, loadContext, nowMs }));
    const agents = step.ended ? this.agents.lastWords(nowMs) : { events: [], statements: [] };
    const statements = [
      fence(this.run, nowMs, step.usage),
      ...agents.statements,
      ...(cut?.statements ?? []),
      ...also,
      ...(left?.statements ?? []),
      ...stepStatements(this.run, step, nowMs),
    ];
    let untold: ReturnType<Deltas['take']> = [];
    let lastOffset: number;
    try {
      untold = this.#deltas.take();
      const ofStep = [...agents.events, ...actedBy(this.run, step.events)];
      const events = { wsId: this.run.wsId, events: [...untold.map(({ event }) => event), ...ofStep] };
      lastOffset = await store.commit({ statements, events, durable: step.durable ?? false });
    } catch (error) {
      this.#deltas.giveBack(untold);
      left?.undo();
      throw toRunError(error);
    }
    if (agents.events.length > 0) this.agents.left();
    cut?.apply(this.messages);
    this.#apply(step, { lastOffset, nowMs });
  }

  async #writeBeside({ statements, events, step, onStored }: Beside): Promise<void> {
    const { data, store, clock } = this.#deps;
    const nowMs = clock.now();
    let lastOffset: number;
    try {
      lastOffset = await store.commit({
        statements: [fence(this.run, nowMs), ...statements],
        events: { wsId: this.run.wsId, events: actedBy(this.run, events) },
        durable: step.durable ?? false,
      });
    } catch (error) {
      throw toRunError(error);
    }
    data.applyStep({ events: [...events], ...(step.journal && { journal: step.journal }) }, { lastOffset, nowMs });
    addTokens(data.tokens, step);
    onStored();
  }

  #apply(step: Step, at: { lastOffset: number; nowMs: number }): void {
    const { data, observer } = this.#deps;
    for (const entry of step.journal ?? []) {
      advance(this.progress, entry);
      if (entry.kind === 'tool_started') observer.onToolStarted(toolName(this.progress, entry.callId));
    }
    if (step.messages?.some(({ role }) => role === 'assistant')) this.#partial = '';
    this.messages.push(...(step.messages ?? []));
    for (const kind of nudgesIn(step)) observer.onNudged(kind);
    data.applyStep(step, at);
    for (const usage of [step.summarized, step.usage]) if (usage) observer.onUsage(usage);
    this.#questions.note(step);
    this.agents.turns.note(this.run.runId, step);
    if (!step.ended) return;
    const { startedMs } = this.run;
    const result: RunResult = { ...step.ended, endedMs: at.nowMs, ...(startedMs !== undefined && { startedMs }) };
    this.#deps.onEnded(result);
    this.#ended.resolve(result);
  }
}

const nudgesIn = ({ messages = [] }: Step) => messages.flatMap((message) => markOf(message)?.nudge?.kind ?? []);

const toolName = (progress: Progress, callId: string): string =>
  progress.calls.find(({ id }) => id === callId)?.name ?? 'unknown';
