import { GatewayError } from '../../../protocol/errors.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message } from '../../agent/message.ts';
import type { Decision, Progress } from '../../agent/run/journal.ts';
import { type AskedApproval, advance, findAsked, pendingApproval } from '../../agent/run/journal.ts';
import { RunWaits } from '../../agent/run/model/run-waits.ts';
import { isUnavailable } from '../../agent/run/record-at-last.ts';
import { type NewApproval, type Recorder, RunSuperseded, type Step, StepOutdated } from '../../agent/run/recorder.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import { prepareContextCut } from '../cuts/context-cut.ts';
import type { Statement } from '../store/store.ts';
import { grantsOf } from '../usage/budget-rows.ts';
import { toAlwaysColumns } from '../workstreams/always.ts';
import { decisionStep } from './decision-step.ts';
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
  /** Its waits for the model. */
  readonly waits = new RunWaits();
  readonly #deps: LiveRunDeps;
  readonly #stopping = new AbortController();
  readonly #ended = Promise.withResolvers<RunResult>();
  readonly #stalled = Promise.withResolvers<void>();
  /** The store refused the latest step. */
  #isRefused = false;
  #superseded = false;
  /** Set while the final step is written. Steps of the worker wait until it is known whether they still count. */
  #superseding: Promise<void> | undefined;
  /** Steps that are being committed. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #deltas: Deltas;
  #pending: NewApproval | undefined;
  /** A decision that is being committed. */
  #deciding: Promise<void> | undefined;
  /** The model's text in the current turn. */
  #partial = '';
  #onDecision: ((decision: Decision) => void) | undefined;

  constructor({ run, progress, pending }: AdoptedRun, deps: LiveRunDeps) {
    this.#deps = deps;
    this.run = run;
    this.progress = progress;
    this.messages = deps.messages;
    this.#pending = pending;
    this.ended = this.#ended.promise;
    this.stalled = this.#stalled.promise;
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

  async record(step: Step): Promise<void> {
    while (this.#superseding !== undefined) await this.#superseding.catch(() => undefined); // its caller gets the error
    if (this.#superseded) throw new RunSuperseded('the run was taken over');
    this.#deltas.throwFailure();
    try {
      await this.#commit(step, []);
      this.#isRefused = false;
    } catch (error) {
      this.#isRefused = isUnavailable(error);
      if (this.#isRefused && this.signal.aborted) this.#stalled.resolve();
      throw error;
    }
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
    const { promise, resolve, reject } = Promise.withResolvers<Decision>();
    const asked = findAsked(this.progress, approvalId);
    const onStop = () => reject(this.signal.reason);
    if (asked?.decision) resolve(asked.decision);
    else if (this.signal.aborted) onStop();
    else {
      this.signal.addEventListener('abort', onStop, { once: true });
      this.#onDecision = (decision) => {
        this.signal.removeEventListener('abort', onStop);
        resolve(decision);
      };
    }
    return promise;
  }

  pendingApproval(): Approval | undefined {
    const asked = this.#pending;
    if (!asked) return undefined;
    const { approvalId, kind, items, budget, expiresAtMs } = asked;
    const { wsId, sessionKey } = this.#deps.data;
    return { approvalId, wsId, sessionKey, kind, items, ...(budget && { budget }), expiresAtMs };
  }

  /**
   * Records the decision, with `also` in the same transaction; nothing if the function has none by then. Throws CONFLICT
   * when it is already decided. It waits until the other decision is committed, because that commit may fail.
   */
  async decide(approvalId: string, toDecision: () => Decision | undefined, also: Statement[] = []): Promise<void> {
    while (this.#deciding !== undefined) await this.#deciding.catch(() => undefined); // its caller gets the error
    if (this.signal.aborted) throw await this.#stoppedInstead();
    const asked = pendingApproval(this.progress);
    if (asked?.approvalId !== approvalId) throw decided();
    const decision = toDecision();
    if (decision === undefined) return;
    this.#deciding = this.#settle(asked, decision, also);
    try {
      await this.#deciding;
    } catch (error) {
      throw error instanceof RunSuperseded || error instanceof StepOutdated ? decided() : error;
    } finally {
      this.#deciding = undefined;
    }
    this.#onDecision?.(decision);
  }

  /** Records the answer to a question that other runs share; one of them has stored it. */
  async follow(approvalId: string, decision: Decision): Promise<void> {
    while (this.#deciding !== undefined) await this.#deciding.catch(() => undefined); // its caller gets the error
    if (this.signal.aborted || pendingApproval(this.progress)?.approvalId !== approvalId) return;
    const { settled, ...step } = decisionStep(this.#deps.data, { approvalId, callIds: [], given: undefined }, decision);
    this.#deciding = this.#commit({ ...step, ...(settled && { settled: { ...settled, isElsewhere: true } }) }, []);
    try {
      await this.#deciding;
    } finally {
      this.#deciding = undefined;
    }
    this.#onDecision?.(decision);
  }

  async #settle(asked: AskedApproval, decision: Decision, also: Statement[]): Promise<void> {
    const { data, always: rules, clock } = this.#deps;
    const { approvalId, digests, question, plan } = asked;
    const { approved, by } = decision;
    const isAboutCalls = question !== 'budget' && question !== 'plan'; // neither money nor a plan is a tool call
    const isAlways = approved && decision.always && isAboutCalls;
    const always = isAlways && by.kind === 'principal' ? rules.grant(by.id) : undefined;
    const step = decisionStep(data, { approvalId, callIds: Object.keys(digests), given: always, plan }, decision);
    if (!always) return this.#commit(step, [...also, ...grantsOf(asked, decision, clock.now())]);
    await this.#commit(step, [...also, setWorkstream(data.wsId, toAlwaysColumns(always))]);
    data.always = always;
    rules.noteChange();
  }

  /** Why a run that is being stopped accepts no decision: its end settles the approval, unless a restart asks again. */
  async #stoppedInstead(): Promise<GatewayError> {
    const { reason } = this.signal;
    const isOver = this.ended.then(() => true);
    const isLeft = reason instanceof StopReason && reason.kind === 'shutdown' ? Promise.resolve() : this.stalled;
    const settled = await Promise.race([isLeft.then(() => false), isOver]);
    return settled ? decided() : new GatewayError('UNAVAILABLE', 'The end of the run is not recorded yet; retry');
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

  async #commit(step: Step, also: Statement[]): Promise<void> {
    const writing = this.#write(step, also);
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
    if (settled?.status === 'cancelled') await this.#stillPending(settled.approvalId);
    const left = settled?.status === 'cancelled' ? questions.leave(settled.approvalId, this.run) : undefined;
    const step: Step = settled && left?.isElsewhere ? { ...whole, settled: { ...settled, isElsewhere: true } } : whole;
    const cut = step.cut && (await prepareContextCut(data, step.cut, { store, loadContext, nowMs }));
    const statements = [
      fence(this.run.wsId, this.run.epoch, nowMs),
      ...(cut?.statements ?? []),
      ...also,
      ...(left?.statements ?? []),
      ...stepStatements(this.run, step, nowMs),
    ];
    const untold = [...this.#deltas.untold];
    const events = { wsId: this.run.wsId, events: [...untold, ...actedBy(this.run, step.events)] };
    let lastOffset: number;
    try {
      lastOffset = await store.commit({ statements, events, durable: step.durable ?? false });
      this.#deltas.forget(untold.length);
    } catch (error) {
      left?.undo();
      throw toRunError(error);
    }
    cut?.apply(this.messages);
    this.#apply(step, { lastOffset, nowMs });
  }

  /**
   * Throws if a decision was committed meanwhile. The row of the approval would refuse the unit, except for a question that
   * passes to another run.
   */
  async #stillPending(approvalId: string): Promise<void> {
    await this.#deciding?.catch(() => undefined); // its caller gets the error
    if (pendingApproval(this.progress)?.approvalId !== approvalId) throw new StepOutdated('it was decided first');
  }

  #apply(step: Step, at: { lastOffset: number; nowMs: number }): void {
    const { data, observer } = this.#deps;
    for (const entry of step.journal ?? []) {
      advance(this.progress, entry);
      if (entry.kind === 'tool_started') observer.onToolStarted(toolName(this.progress, entry.callId));
    }
    if (step.messages?.some(({ role }) => role === 'assistant')) this.#partial = '';
    this.messages.push(...(step.messages ?? []));
    data.applyStep(step, at);
    for (const usage of [step.summarized, step.usage]) if (usage) observer.onUsage(usage);
    this.#applyApproval(step);
    if (!step.ended) return;
    const { startedMs } = this.run;
    const result: RunResult = { ...step.ended, endedMs: at.nowMs, ...(startedMs !== undefined && { startedMs }) };
    this.#deps.onEnded(result);
    this.#ended.resolve(result);
  }

  #applyApproval(step: Step): void {
    const { data, observer } = this.#deps;
    observer.onVerdicts(step.verdicts);
    if (step.approval) {
      this.#pending = step.approval;
      const approval = step.approval.isJoined ? undefined : this.pendingApproval();
      if (approval) observer.onApprovalRequested(data, approval);
    }
    if (step.settled) {
      this.#pending = undefined;
      const { wsId, sessionKey } = data;
      const { approvalId, status, isElsewhere, by, feedback, always } = step.settled;
      const isAnswer = !isElsewhere && status !== 'cancelled';
      const decision = { approved: status === 'approved', by, feedback, always };
      this.#deps.questions.settle(approvalId, this.run, isAnswer ? decision : undefined);
      if (isElsewhere) return;
      observer.onApprovalResolved(data, { approvalId, wsId, sessionKey, approved: status === 'approved' });
    }
  }
}

/** The error for an approval that was decided before. */
export const decided = () => new GatewayError('CONFLICT', 'The approval was already decided');

const toolName = (progress: Progress, callId: string): string =>
  progress.calls.find(({ id }) => id === callId)?.name ?? 'unknown';
