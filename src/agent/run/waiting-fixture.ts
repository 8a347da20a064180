import { advance, type Decision, type Progress } from './journal.ts';

/** What waits for decisions, by the ids of approvals. */
export type Waiting = Map<string, (decision: Decision) => void>;

/** Waits for a decision, or until the run is stopped. */
export const decisionIn = (waiting: Waiting, approvalId: string, signal: AbortSignal): Promise<Decision> =>
  new Promise((resolve, reject) => {
    waiting.set(approvalId, resolve);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Withdraws a question, as the gateway does. */
export const withdrawIn =
  (waiting: Waiting, progress: Progress) =>
  async (approvalId: string): Promise<void> => {
    const decision: Decision = { approved: false, feedback: '', always: false, by: { kind: 'cancel' } };
    advance(progress, { kind: 'approval_decided', approvalId, decision });
    waiting.get(approvalId)?.(decision);
  };
