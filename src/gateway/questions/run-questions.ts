import { GatewayError } from '../../../protocol/errors.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import {
  type AskedApproval,
  type Decision,
  findAsked,
  type Progress,
  pendingApproval,
} from '../../agent/run/journal.ts';
import { type NewApproval, RunSuperseded, type Step, StepOutdated } from '../../agent/run/recorder.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import { decisionStep } from '../runs/decision-step.ts';
import type { LiveRunDeps } from '../runs/live-run-deps.ts';
import type { RunRecord } from '../runs/run-record.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import type { Statement } from '../store/store.ts';
import { grantsOf } from '../usage/budget-rows.ts';
import { toAlwaysColumns } from '../workstreams/always.ts';

/** A run, or a sub-agent of one. */
interface Asker {
  run: Pick<RunRecord, 'runId' | 'wsId'>;
  progress: Progress;
  signal: AbortSignal;
  ended: Promise<unknown>;
  /** Resolves when it was stopped and only its end is left to record, which the store currently refuses. */
  stalled: Promise<void>;
  /** Stores a step, with the statements in the same transaction, and then applies it. */
  commit(step: Step, also: Statement[]): Promise<void>;
  /** The id of the sub-agent; absent: the run itself asks. */
  agentId?: string;
}

type Deps = Pick<LiveRunDeps, 'data' | 'questions' | 'always' | 'clock' | 'observer'>;

/** The question of one run or sub-agent that waits for a decision; it has one at a time. */
export class RunQuestions {
  readonly #asker: Asker;
  readonly #deps: Deps;
  #pending: NewApproval | undefined;
  /** A decision that is being committed. */
  #deciding: Promise<void> | undefined;
  /** Those who wait for a decision, by the question. */
  readonly #waiting = new Map<string, ((decision: Decision) => void)[]>();

  constructor(asker: Asker, deps: Deps, pending: NewApproval | undefined) {
    this.#asker = asker;
    this.#deps = deps;
    this.#pending = pending;
  }

  /** Waits for the decision. Rejects with the stop reason. */
  decision(approvalId: string): Promise<Decision> {
    const { signal, progress } = this.#asker;
    const { promise, resolve, reject } = Promise.withResolvers<Decision>();
    const asked = findAsked(progress, approvalId);
    const onStop = () => reject(signal.reason);
    if (asked?.decision) resolve(asked.decision);
    else if (signal.aborted) onStop();
    else {
      signal.addEventListener('abort', onStop, { once: true });
      const onDecision = (decision: Decision) => {
        signal.removeEventListener('abort', onStop);
        resolve(decision);
      };
      this.#waiting.set(approvalId, [...(this.#waiting.get(approvalId) ?? []), onDecision]);
    }
    return promise;
  }

  pendingApproval(): Approval | undefined {
    const asked = this.#pending;
    if (!asked) return undefined;
    const { approvalId, kind, items, budget, expiresAtMs } = asked;
    const { wsId, sessionKey } = this.#deps.data;
    const { agentId } = this.#asker;
    return {
      approvalId,
      wsId,
      sessionKey,
      kind,
      items,
      ...(agentId !== undefined && { agentId }),
      ...(budget && { budget }),
      expiresAtMs,
    };
  }

  /**
   * Records the decision, with `also` in the same transaction; nothing if the function has none by then. Throws CONFLICT
   * when it is already decided. It waits until the other decision is committed, because that commit may fail.
   */
  async decide(approvalId: string, toDecision: () => Decision | undefined, also: Statement[] = []): Promise<void> {
    while (this.#deciding !== undefined) await this.#deciding.catch(() => undefined); // its caller gets the error
    if (this.#asker.signal.aborted) throw await this.#stoppedInstead();
    const asked = pendingApproval(this.#asker.progress);
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
    this.#onDecision(approvalId, decision);
  }

  /** Records the answer to a question that other runs share; one of them has stored it. */
  async follow(approvalId: string, decision: Decision): Promise<void> {
    const { signal, progress } = this.#asker;
    while (this.#deciding !== undefined) await this.#deciding.catch(() => undefined); // its caller gets the error
    if (signal.aborted || pendingApproval(progress)?.approvalId !== approvalId) return;
    const { settled, ...step } = decisionStep(this.#deps.data, { approvalId, callIds: [], given: undefined }, decision);
    const whole = { ...step, ...(settled && { settled: { ...settled, isElsewhere: true as const } }) };
    this.#deciding = this.#asker.commit(whole, []);
    try {
      await this.#deciding;
    } finally {
      this.#deciding = undefined;
    }
    this.#onDecision(approvalId, decision);
  }

  /**
   * Throws if a decision was committed meanwhile. The row of the approval would refuse the unit, except for a question that
   * passes to another run.
   */
  async stillPending(approvalId: string): Promise<void> {
    await this.#deciding?.catch(() => undefined); // its caller gets the error
    if (pendingApproval(this.#asker.progress)?.approvalId !== approvalId)
      throw new StepOutdated('it was decided first');
  }

  /** Call it when a step is stored, and its journal applied. */
  note(step: Step): void {
    const { data, observer, questions } = this.#deps;
    observer.onVerdicts(step.verdicts);
    if (step.approval) {
      this.#pending = step.approval;
      const approval = step.approval.isJoined ? undefined : this.pendingApproval();
      if (approval) observer.onApprovalRequested(data, approval);
    }
    if (!step.settled) return;
    this.#pending = undefined;
    const { wsId, sessionKey } = data;
    const { approvalId, status, isElsewhere, by, feedback, always } = step.settled;
    const isAnswer = !isElsewhere && status !== 'cancelled';
    const decision = { approved: status === 'approved', by, feedback, always };
    questions.settle(approvalId, this.#asker.run, isAnswer ? decision : undefined);
    if (isElsewhere) return;
    observer.onApprovalResolved(data, { approvalId, wsId, sessionKey, approved: status === 'approved' });
  }

  #onDecision(approvalId: string, decision: Decision): void {
    for (const tell of this.#waiting.get(approvalId) ?? []) tell(decision);
    this.#waiting.delete(approvalId);
  }

  async #settle(asked: AskedApproval, decision: Decision, also: Statement[]): Promise<void> {
    const { data, always: rules, clock } = this.#deps;
    const { approvalId, digests, question, plan, input } = asked;
    const { approved, by } = decision;
    // Neither money nor a plan is a tool call, nor is what a running call asks.
    const isAboutCalls = question !== 'budget' && question !== 'plan' && input === undefined;
    const isAlways = approved && decision.always && isAboutCalls;
    const always = isAlways && by.kind === 'principal' ? rules.grant(by.id) : undefined;
    const step = decisionStep(data, { approvalId, callIds: Object.keys(digests), given: always, plan }, decision);
    if (!always) return this.#asker.commit(step, [...also, ...grantsOf(asked, decision, clock.now())]);
    await this.#asker.commit(step, [...also, setWorkstream(data.wsId, toAlwaysColumns(always))]);
    data.always = always;
    rules.noteChange();
  }

  /** Why a run that is being stopped accepts no decision: its end settles the approval, unless a restart asks again. */
  async #stoppedInstead(): Promise<GatewayError> {
    const { signal, ended, stalled } = this.#asker;
    const { reason } = signal;
    const isOver = ended.then(() => true);
    const isLeft = reason instanceof StopReason && reason.kind === 'shutdown' ? Promise.resolve() : stalled;
    const settled = await Promise.race([isLeft.then(() => false), isOver]);
    return settled ? decided() : new GatewayError('UNAVAILABLE', 'The end of the run is not recorded yet; retry');
  }
}

/** The error for an approval that was decided before. */
export const decided = () => new GatewayError('CONFLICT', 'The approval was already decided');
