import type { WaitingQuestion } from './question.ts';

/** Where notifications go: a browser, a topic of ntfy, or a webhook. */
export interface Target {
  /** For the log; never an address, because some are as good as a password. */
  readonly name: string;
  /** Throws DeliveryError. Aborts when the question was decided or the daemon stops. */
  ask(question: WaitingQuestion, signal: AbortSignal): Promise<void>;
  /** The question does not wait any more. Undefined: the target cannot take anything back. */
  withdraw?(question: WaitingQuestion, signal: AbortSignal): Promise<void>;
}
