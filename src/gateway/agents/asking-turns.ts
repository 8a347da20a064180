import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { NewApproval, Step } from '../../agent/run/recorder.ts';
import type { Clock } from '../../clock.ts';
import { endOfDay } from '../../day.ts';
import { until } from '../../timing/until.ts';
import type { BudgetQuestions } from '../usage/budget-questions.ts';

interface TurnDeps {
  questions: Pick<BudgetQuestions, 'postpone'>;
  clock: Pick<Clock, 'now'>;
}

/** A run, or one of its sub-agents. */
interface Asker {
  id: string;
  signal: AbortSignal;
}

/** Who may ask now: a run or one of its sub-agents. */
export class AskingTurns {
  readonly #deps: TurnDeps;
  /** Those that ask, and what: more than one only if they share a question about a budget, or after a restart. */
  readonly #asking = new Map<string, string>();
  #freed = Promise.withResolvers<void>();

  constructor(deps: TurnDeps) {
    this.#deps = deps;
  }

  /** Its question was found after a restart. */
  restore(id: string, approvalId: string): void {
    this.#asking.set(id, approvalId);
  }

  /**
   * Records a question when it is its turn, in the order in which they came; a question that is asked already may be joined.
   * The wait takes none of the time to answer it. Rejects when the asker is stopped.
   */
  async ask({ id, signal }: Asker, step: Step & { approval: NewApproval }, record: (step: Step) => Promise<void>) {
    const { approval } = step;
    const sinceMs = this.#deps.clock.now();
    // After a restart, the sub-agents go on only when it is known what became of the calls of the run.
    while (approval.kind !== 'outcome' && !this.#mayAsk(approval)) await until(this.#freed.promise, signal);
    this.#asking.set(id, approval.approvalId);
    try {
      await record(this.#postponed(step, this.#deps.clock.now() - sinceMs));
    } catch (error) {
      this.#end(id);
      throw error;
    }
  }

  /** Call it when a step is stored. */
  note(id: string, { settled, ended }: Step): void {
    if (settled || ended) this.#end(id);
  }

  /** The events of a step. While others ask, the workstream needs attention, whatever this one does. */
  shown(id: string, events: readonly StreamEvent[]): readonly StreamEvent[] {
    const isOthersTurn = [...this.#asking.keys()].some((asker) => asker !== id);
    return isOthersTurn ? events.filter((event) => !isWork(event)) : events;
  }

  /** It asks no more. */
  #end(id: string): void {
    if (!this.#asking.delete(id)) return;
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }

  #mayAsk({ approvalId }: NewApproval): boolean {
    return [...this.#asking.values()].every((asked) => asked === approvalId);
  }

  #postponed(step: Step & { approval: NewApproval }, byMs: number): Step {
    const { approval } = step;
    const { approvalId, budget, isJoined } = approval;
    if (byMs === 0 || isJoined) return step;
    const lastMs = budget?.day === undefined ? Number.POSITIVE_INFINITY : endOfDay(budget.day);
    const expiresAtMs = Math.min(approval.expiresAtMs + byMs, lastMs);
    this.#deps.questions.postpone(approvalId, expiresAtMs);
    const events = step.events?.map((event) =>
      event.type === 'approve_request' ? { ...event, expires_at_ms: expiresAtMs } : event,
    );
    return { ...step, approval: { ...approval, expiresAtMs }, ...(events && { events }) };
  }
}

const isWork = (event: StreamEvent): boolean =>
  event.type === 'ws_state' && (event.state === 'running' || event.state === 'thinking');
