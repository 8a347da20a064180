import type { Interval } from './find-order.ts';

/** What a client asked of a workstream, and the answer; without one if the connection was lost. */
export type Call =
  | { kind: 'send'; text: string; answer?: { runId: string } | undefined }
  /** `mark` identifies the decision; calls that repeat it with its key have the same one. */
  | { kind: 'decide'; approvalId: string; approved: boolean; mark: string; answer?: 'won' | 'late' | undefined }
  /** `approvalId`: what was pending and is denied now. `dropped`: how many messages no longer wait. */
  | { kind: 'cancel'; answer?: { approvalId: string | null; dropped: number } | undefined }
  /** The approvals that are pending. */
  | { kind: 'approvals'; answer: string[] }
  /** The messages that wait. */
  | { kind: 'queue'; answer: string[] }
  /** The messages of the conversation. */
  | { kind: 'history'; answer: string[] }
  /** The log says that it was asked. */
  | { kind: 'asked'; approvalId: string }
  /** The log says how it was decided; no mark after a cancel. */
  | { kind: 'decided'; approvalId: string; approved: boolean; mark?: string | undefined };

export type Recorded = Call & Interval & { wsId: string; client: string };

/** One line for people who look for the reason of a violation. */
export function describe({ wsId: _, client, fromMs, toMs, ...call }: Recorded): string {
  const to = toMs === undefined ? 'no answer' : toMs.toFixed(1);
  return `${fromMs.toFixed(1)}–${to} ${client}: ${JSON.stringify(call)}`;
}
