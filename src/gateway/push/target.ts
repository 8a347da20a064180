import type { Matter } from './matter.ts';

/** Where notifications go: a browser, a topic of ntfy, or a webhook. */
export interface Target {
  /** For the log; never an address, because some are as good as a password. */
  readonly name: string;
  /** Whether it may know of the matter now. It is asked before each attempt, because that can end at any time. */
  isFor(matter: Matter): Promise<boolean>;
  /** Throws DeliveryError. Aborts when the matter was decided, or the daemon has stopped waiting for it. */
  ask(matter: Matter, signal: AbortSignal): Promise<void>;
  /** The matter does not wait any more, or is nothing for the target any more. Does nothing if it takes nothing back. */
  withdraw(matter: Matter, signal: AbortSignal): Promise<void>;
}
