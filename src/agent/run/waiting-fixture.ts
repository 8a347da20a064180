import type { Decision } from './journal.ts';

/** What waits for decisions, by the ids of approvals. */
export type Waiting = Map<string, (decision: Decision) => void>;

/** Waits for a decision, or until the run is stopped. */
export const decisionIn = (waiting: Waiting, approvalId: string, signal: AbortSignal): Promise<Decision> =>
  new Promise((resolve, reject) => {
    waiting.set(approvalId, resolve);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
