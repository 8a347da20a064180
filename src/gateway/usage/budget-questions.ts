import type { BudgetQuestion } from '../../../protocol/run-outcome.ts';
import type { Decision } from '../../agent/run/journal.ts';
import type { SharedQuestion } from '../../agent/run/limits/run-budget.ts';
import type { Ids } from '../../ids.ts';
import { until } from '../../timing/until.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';

/** A run that waits for an answer. */
export interface Waiter {
  runId: string;
  wsId: string;
}

/** A stored question of the previous process, or its answer. */
export interface FoundQuestion {
  approvalId: string;
  budget: BudgetQuestion;
  expiresAtMs: number;
  decision?: Decision | undefined;
}

interface OpenQuestion {
  approvalId: string;
  budget: BudgetQuestion;
  expiresAtMs: number;
  waiting: Map<string, Waiter>;
  /** False: it could not be stored. */
  stored: PromiseWithResolvers<boolean>;
  decided: PromiseWithResolvers<Decision>;
  isDecided: boolean;
}

/** What a run that stops waiting leaves behind. */
interface Leaving {
  /** Whether the question goes on without it, or has its answer. Otherwise it ends with this run. */
  isElsewhere: boolean;
  /** In the unit that ends its wait. */
  statements: Statement[];
  /** Undoes it, if that unit was not stored. */
  undo(): void;
}

/**
 * The questions about used-up budgets: one for each budget, for which all runs wait that meet it. Its row names one of
 * them; if that one stops waiting, the row passes to another.
 */
export class BudgetQuestions {
  readonly #ids: Pick<Ids, 'id'>;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #byId = new Map<string, OpenQuestion>();
  #answers = 0;

  constructor(ids: Pick<Ids, 'id'>) {
    this.#ids = ids;
  }

  /** The number of answers so far. What was read of a budget before another answer is outdated. */
  get answers(): number {
    return this.#answers;
  }

  /** Runs of the previous process continue to wait for the same question. */
  restore(line: string, { decision, ...found }: FoundQuestion, waiter: Waiter): void {
    const question = this.#byId.get(found.approvalId) ?? this.#add(found);
    question.stored.resolve(true);
    question.waiting.set(waiter.runId, waiter);
    if (decision) this.#decide(question, decision);
    else this.#open.set(line, question);
  }

  /** The open question about a budget, or a new one. */
  join(line: string, asked: { budget: BudgetQuestion; expiresAtMs: number }, waiter: Waiter): SharedQuestion {
    const found = this.#open.get(line);
    const question = found ?? this.#add({ approvalId: this.#ids.id('apr'), ...asked });
    this.#open.set(line, question);
    question.waiting.set(waiter.runId, waiter);
    const { approvalId, budget, stored } = question;
    return {
      approvalId,
      budget,
      get expiresAtMs() {
        return question.expiresAtMs;
      },
      ask: async (record, signal) => {
        try {
          if (found && !(await until(stored.promise, signal))) return false;
          // To its end, even if the run is stopped meanwhile: the end of the run has to know that it has asked.
          await record({ isFirst: !found });
          stored.resolve(true);
          return true;
        } catch (error) {
          question.waiting.delete(waiter.runId);
          if (!found) this.#withdraw(question);
          throw error;
        }
      },
    };
  }

  /** The one who asks had to wait for its turn. Does nothing for a question that is not about a budget. */
  postpone(approvalId: string, expiresAtMs: number): void {
    const question = this.#byId.get(approvalId);
    if (question) question.expiresAtMs = expiresAtMs;
  }

  /** Resolves with the answer; undefined for a question that is not about a budget. */
  answerTo(approvalId: string): Promise<Decision> | undefined {
    return this.#byId.get(approvalId)?.decided.promise;
  }

  /** A run has recorded the decision, its own or that of the question. */
  settle(approvalId: string, { runId }: Waiter, decision: Decision | undefined): void {
    const question = this.#byId.get(approvalId);
    if (!question) return;
    if (decision) this.#decide(question, decision);
    this.#leave(question, runId);
  }

  /** A run that ends no longer waits. Undefined for a question that is not about a budget. */
  leave(approvalId: string, waiter: Waiter): Leaving | undefined {
    const question = this.#byId.get(approvalId);
    if (!question) return undefined;
    const heir = [...question.waiting.values()].find(({ runId }) => runId !== waiter.runId);
    if (!heir && !question.isDecided) {
      // From now on: a run that joined while the end is being stored would wait for a question that nobody can answer.
      const lines = this.#close(question);
      return { isElsewhere: false, statements: [], undo: () => this.#reopen(lines, question) };
    }
    question.waiting.delete(waiter.runId);
    return {
      isElsewhere: true,
      statements: heir && !question.isDecided ? [passTo(approvalId, heir)] : [],
      undo: () => void question.waiting.set(waiter.runId, waiter),
    };
  }

  #add(asked: Pick<OpenQuestion, 'approvalId' | 'budget' | 'expiresAtMs'>): OpenQuestion {
    const question: OpenQuestion = {
      ...asked,
      waiting: new Map(),
      stored: Promise.withResolvers(),
      decided: Promise.withResolvers(),
      isDecided: false,
    };
    this.#byId.set(asked.approvalId, question);
    return question;
  }

  #withdraw(question: OpenQuestion): void {
    this.#close(question);
    this.#byId.delete(question.approvalId);
    question.stored.resolve(false);
  }

  #decide(question: OpenQuestion, decision: Decision): void {
    if (question.isDecided) return;
    question.isDecided = true;
    this.#answers += 1;
    this.#close(question);
    question.decided.resolve(decision);
  }

  /** Returns the budgets about which it asked. */
  #close(question: OpenQuestion): string[] {
    const lines = [...this.#open].filter(([, open]) => open === question).map(([line]) => line);
    for (const line of lines) this.#open.delete(line);
    return lines;
  }

  #reopen(lines: readonly string[], question: OpenQuestion): void {
    for (const line of lines) if (!this.#open.has(line)) this.#open.set(line, question);
  }

  #leave(question: OpenQuestion, runId: string): void {
    question.waiting.delete(runId);
    if (question.waiting.size > 0) return;
    this.#close(question);
    this.#byId.delete(question.approvalId);
  }
}

const passTo = (approvalId: string, { wsId, runId }: Waiter): Statement =>
  statementOf(
    build
      .updateTable('approvals')
      .set({ ws_id: wsId, run_id: runId })
      .where('approval_id', '=', approvalId)
      .where('status', '=', 'pending'),
  );
