import type { BudgetQuestion, BudgetState } from '../../../../protocol/run-outcome.ts';
import { budgetOf, nearlyUsed, remedyFor } from '../../../../protocol/text/budget-words.ts';
import { endOfDay } from '../../../day.ts';
import { toldMessage } from '../../prefix/open-turn.ts';
import type { Prefix } from '../../prefix/prefix.ts';
import type { Model, Usage } from '../../providers/model.ts';
import { hasExpired } from '../approval/approval-expiry.ts';
import { policyInForce } from '../approval/unattended-policy.ts';
import { oneQuestion } from '../inputs/one-question.ts';
import type { Decision } from '../journal.ts';
import type { Step } from '../recorder.ts';
import type { RunContext } from '../run-context.ts';
import { bytesOfPreamble } from '../window/token-count.ts';
import { BudgetUsedUp } from './budget-used-up.ts';
import { type CallSize, lastCallOf, sizeOf } from './call-size.ts';
import type { BudgetedCall, Exhausted, Held } from './run-budget.ts';
import { DECLINED_NOTICE } from './wrap-up.ts';

/** A call to reserve. */
interface Wanted {
  model: Model;
  /** By default that of the conversation. */
  size?: CallSize;
  /** A request for a summary. */
  isSummary?: true;
  /** The request exists already, so it cannot tell the model to finish. */
  isTakeOver?: true;
  /** Of the next request, if it is not stored yet. */
  newPrefix?: Prefix | undefined;
}

/**
 * What the calls of one turn hold of the budgets. One of them is in flight at a time, so a reservation replaces the one
 * before it: that of the model which could not answer, or that of a summary.
 */
export class TurnBudget {
  readonly #run: RunContext;
  #held: Held | undefined;
  #expected: Usage | undefined;
  #isLast = false;

  constructor(run: RunContext) {
    this.#run = run;
  }

  /** What is expected of the call in flight; undefined without a budget. */
  get expected(): Usage | undefined {
    return this.#expected;
  }

  /** A person declined to spend more, so the next answer is the last one, and a short one. */
  get isLast(): boolean {
    return this.#isLast;
  }

  /**
   * Reserves what the next call may cost, and returns what to record before it. Asks a person if a budget is used up;
   * throws BudgetUsedUp if it stays so.
   */
  async reserve(wanted: Wanted): Promise<Pick<Step, 'reserved'>> {
    const run = this.#run;
    this.#held?.drop();
    this.#held = undefined;
    this.#expected = undefined;
    await this.#settleOpenQuestion(wanted);
    const { model } = wanted;
    const { provider, modelId, price } = model;
    const called = { provider, modelId, ...(price && { price }) };
    if (!run.budget.isLimited(called)) return {};
    // It may have to wait for other calls.
    await run.recorder.record({ events: [{ type: 'ws_state', ws_id: run.wsId, state: 'thinking' }] });
    let known = wanted.size;
    const size = () => {
      const prefix = wanted.newPrefix ?? run.prefix();
      known ??= sizeOf(run.messages, model, prefix && bytesOfPreamble(prefix));
      return known;
    };
    this.#held = await this.#hold({ model: called, size }, wanted);
    const { near = [] } = this.#held;
    if (near.length > 0) await run.recorder.record({ events: near.map(toInfo) });
    const { expected } = this.#isLast ? lastCallOf(size()) : size();
    this.#expected = expected;
    return { reserved: { expected, model: called } };
  }

  /** Whether another request may follow in the same turn, if the first one used this. */
  covers(used: Usage): boolean {
    return this.#held?.covers(used) ?? true;
  }

  /** Call it after the usage is recorded; `used` is undefined if it is unknown. */
  release(used: Usage | undefined): void {
    this.#held?.release(used);
    this.#held = undefined;
  }

  async #hold(call: BudgetedCall, wanted: Wanted): Promise<Held> {
    const run = this.#run;
    for (;;) {
      const declined = run.progress.wrapUp?.declined;
      if (declined && !wanted.isSummary) return this.#holdLast(call, declined);
      const held = await run.budget.reserve(call, run.signal);
      if (held.kind === 'held') return held;
      const answer = await ask(run, held);
      if (answer && !answer.decision.approved) await this.#declined(answer, wanted);
    }
  }

  async #holdLast(call: BudgetedCall, { question, reason }: Declined): Promise<Held> {
    const { budget, signal } = this.#run;
    const last = { ...call, size: () => lastCallOf(call.size()) };
    const held = await budget.reserveLast(last, question, signal);
    if (!held) throw new BudgetUsedUp(reason);
    this.#isLast = true;
    return held;
  }

  /** A question that a restart interrupted is not asked again. */
  async #settleOpenQuestion(wanted: Wanted): Promise<void> {
    const { budgetApproval: asked, wrapUp } = this.#run.progress;
    if (!asked?.budget || wrapUp?.declined) return;
    const decision = asked.decision ?? (await this.#run.decision(asked.approvalId));
    if (!decision.approved) await this.#declined({ question: asked.budget, decision }, wanted);
  }

  /** A question about a day that nobody answered ends with it: there is room in the next one. */
  async #declined(answer: Answer, wanted: Wanted): Promise<void> {
    const { clock, recorder } = this.#run;
    if (!hasExpired(answer.decision) || clock.now() < endOf(answer.question)) return this.#wrapUp(answer, wanted);
    await recorder.record({ events: [{ type: 'info', message: NEXT_DAY }] });
  }

  /** Tells the model to finish, if the run has done anything so far. Throws BudgetUsedUp otherwise. */
  async #wrapUp({ question, decision }: Answer, { isSummary, isTakeOver, newPrefix }: Wanted): Promise<void> {
    const run = this.#run;
    const reason = usedUp(question, decision);
    const { phase, turns } = run.progress;
    const answers = phase === 'generating' ? turns - 1 : turns;
    const prefix = newPrefix ?? run.prefix();
    if (isSummary || isTakeOver || answers === 0 || !prefix) throw new BudgetUsedUp(reason);
    await run.recorder.record({
      events: [{ type: 'info', message: 'The model was told to finish with one short answer.' }],
      messages: [toldMessage(run.messages, prefix, { text: DECLINED_NOTICE })],
      journal: [{ kind: 'wrap_up', limit: 'budget', question, reason }],
    });
  }
}

interface Declined {
  question: BudgetQuestion;
  reason: string;
}

interface Answer {
  question: BudgetQuestion;
  decision: Decision;
}

function usedUp(question: BudgetQuestion, decision: Decision | undefined): string {
  return `${budgetOf(question)} is used up${whyNoMore(decision)}. ${remedyFor(question)}`;
}

function whyNoMore(decision: Decision | undefined): string {
  if (decision === undefined) return ', and nobody is there to allow more';
  if (decision.by.kind === 'timeout') return ', and nobody decided in time whether to spend more';
  return decision.feedback === '' ? ', and the run was stopped' : `, and the run was stopped: ${decision.feedback}`;
}

const toInfo = (state: BudgetState) => ({ type: 'info', message: nearlyUsed(state) }) as const;

const NEXT_DAY = 'The day of this budget is over. The run goes on with the budget of today.';

/** The end of its day, if it is about one. */
const endOf = ({ day }: BudgetQuestion): number => (day === undefined ? Number.POSITIVE_INFINITY : endOfDay(day));

/** Asks a person, together with all runs that met the budget. Undefined: look for room again. */
const ask = (run: RunContext, exhausted: Exhausted): Promise<Answer | undefined> =>
  oneQuestion(run, async () => {
    if (policyInForce(run)) throw new BudgetUsedUp(usedUp(exhausted.question, undefined));
    const shared = exhausted.join(Math.min(run.expiry.stamp(), endOf(exhausted.question)));
    if (!shared) return undefined;
    const { approvalId, budget: question } = shared;
    const request = { kind: 'budget' as const, items: [], budget: question };
    const record = ({ isFirst }: { isFirst: boolean }) => {
      const { expiresAtMs } = shared;
      return run.recorder.record({
        events: [
          { type: 'info', message: `${budgetOf(question)} is used up.` },
          { type: 'approve_request', approval_id: approvalId, ...request, expires_at_ms: expiresAtMs },
          { type: 'ws_state', ws_id: run.wsId, state: 'attention' },
        ],
        journal: [{ kind: 'approval_asked', approvalId, question: 'budget', digests: {}, budget: question }],
        approval: { approvalId, ...request, digests: {}, expiresAtMs, ...(!isFirst && { isJoined: true }) },
      });
    };
    if (!(await shared.ask(record, run.signal))) return undefined;
    return { question, decision: await run.decision(approvalId) };
  });
