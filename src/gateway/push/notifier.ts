import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { DeliveryError } from '../channels/channel.ts';
import { toDeliveryError } from './post-notice.ts';
import type { WaitingQuestion } from './question.ts';
import type { Target } from './target.ts';

/** With the waits between them, about half an hour. */
const MAX_ATTEMPTS = 10;
const MAX_WAIT_MS = 10 * 60_000;
/** Further ones are not told. */
const MOST_QUESTIONS = 1_000;

interface NotifierDeps {
  /** Who is told about a question now. */
  targetsOf(question: WaitingQuestion): Promise<readonly Target[]>;
  /** How long somebody has who is looking at the question already. */
  delayMs(): number;
  clock: Pick<Clock, 'now' | 'sleep'>;
  log: Pick<Log, 'info' | 'warn'>;
}

interface Waiting {
  question: WaitingQuestion;
  /** Aborts when it is decided. */
  end: AbortController;
  /** What has been asked, or may have been. */
  asked: Set<Target>;
}

/**
 * Tells people about questions while these wait: before each attempt, it looks whether the question was decided, and whether
 * it is still for them. It takes back what it told then. Nothing is stored, because a daemon that starts again asks its questions again.
 */
export class Notifier {
  readonly #deps: NotifierDeps;
  readonly #waiting = new Map<string, Waiting>();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
  }

  asked(question: WaitingQuestion): void {
    const { approvalId } = question.approval;
    if (this.#waiting.has(approvalId) || this.#waiting.size >= MOST_QUESTIONS) return;
    const waiting: Waiting = { question, end: new AbortController(), asked: new Set() };
    this.#waiting.set(approvalId, waiting);
    this.#follow(this.#tell(waiting));
  }

  decided(approvalId: string): void {
    const waiting = this.#waiting.get(approvalId);
    if (waiting === undefined) return;
    this.#waiting.delete(approvalId);
    waiting.end.abort(new Error('the question was decided'));
    for (const target of waiting.asked) this.#follow(this.#withdraw(target, waiting.question));
  }

  /** Takes the questions of a workstream back from those whom they do not concern any more. */
  shared(wsId: string): void {
    for (const waiting of this.#waiting.values())
      if (waiting.question.approval.wsId === wsId)
        for (const target of waiting.asked) this.#follow(this.#withdrawUnless(target, waiting));
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#stopping.abort(new Error('the daemon stops'));
    await Promise.allSettled(this.#underWay);
  }

  #follow(work: Promise<unknown>): void {
    const over = work.catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#deps.log.warn({ err: error }, 'notifications could not be sent');
    });
    this.#underWay.add(over);
    void over.finally(() => this.#underWay.delete(over));
  }

  async #tell(waiting: Waiting): Promise<void> {
    const { targetsOf, delayMs, clock } = this.#deps;
    const signal = AbortSignal.any([waiting.end.signal, this.#stopping.signal]);
    const passed = clock.sleep(delayMs(), signal).then(
      () => true,
      () => false, // decided in time
    );
    if (!(await passed)) return;
    const targets = await targetsOf(waiting.question);
    const ask = async (target: Target) => {
      if (!(await target.isFor(waiting.question)) || signal.aborted) return;
      waiting.asked.add(target);
      await target.ask(waiting.question, signal);
    };
    await Promise.all(targets.map((target) => this.#attempt(target, () => ask(target), signal)));
  }

  async #withdrawUnless(target: Target, { question, asked }: Waiting): Promise<void> {
    if (!(await target.isFor(question)) && asked.delete(target)) await this.#withdraw(target, question);
  }

  #withdraw(target: Target, question: WaitingQuestion): Promise<void> {
    const { signal } = this.#stopping;
    return this.#attempt(target, () => target.withdraw(question, signal), signal);
  }

  async #attempt(target: Target, send: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const problem = await problemOf(send);
      if (problem === undefined || signal.aborted) return;
      if (attempt >= MAX_ATTEMPTS || !problem.retryable) {
        log.warn({ to: target.name, attempt, problem: problem.message }, 'a notification was not sent');
        return;
      }
      const waitMs = Math.min(MAX_WAIT_MS, Math.max(problem.retryAfterMs ?? 0, 1_000 * 2 ** (attempt - 1)));
      await clock.sleep(waitMs, signal).catch(() => undefined); // decided, or the daemon stops
    }
  }
}

/** Undefined if it was sent. */
async function problemOf(send: () => Promise<void>): Promise<DeliveryError | undefined> {
  try {
    await send();
    return undefined;
  } catch (error) {
    return toDeliveryError(error);
  }
}
