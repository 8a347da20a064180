import type { WaitingQuestion } from './question.ts';

/** Where notifications go: a browser, a topic of ntfy, or a webhook. */
export interface Target {
  /** For the log; never an address, because some are as good as a password. */
  readonly name: string;
  /** Whether it may know of the question now. It is asked before each attempt, because that can end at any time. */
  isFor(question: WaitingQuestion): Promise<boolean>;
  /** Throws DeliveryError. Aborts when the question was decided or the daemon stops. */
  ask(question: WaitingQuestion, signal: AbortSignal): Promise<void>;
  /** The question does not wait any more, or is nothing for the target any more. Does nothing if it takes nothing back. */
  withdraw(question: WaitingQuestion, signal: AbortSignal): Promise<void>;
}
