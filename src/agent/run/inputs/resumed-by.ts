import type { Progress } from '../journal.ts';

/** Where a call goes on after a restart: at the question that waits, if its answer is all that the call needs. */
export function resumedBy(
  { inputs }: Progress,
  callId: string,
): { approvalId: string; round: number; resume: string } | undefined {
  const last = inputs.findLast(({ input }) => input.callId === callId);
  if (!last || last.decision || last.input.resume === undefined) return undefined;
  const { round, resume } = last.input;
  return { approvalId: last.approvalId, round, resume };
}
