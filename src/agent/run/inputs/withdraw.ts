import { GatewayError } from '../../../../protocol/errors.ts';
import { until } from '../../../timing/until.ts';
import type { Decision } from '../journal.ts';
import type { RunContext } from '../run-context.ts';

/**
 * Withdraws a question of the run. Rejects when the run is stopped meanwhile: only its end settles the question then, so that
 * it would wait for itself.
 */
export async function withdraw(run: RunContext, approvalId: string): Promise<void> {
  run.signal.throwIfAborted();
  try {
    await until(run.withdraw(approvalId), run.signal);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'CONFLICT') throw error; // it was decided just before
  }
}

/**
 * Withdraws what calls have asked and still waits after a restart, because another question comes first: a run has one at a time.
 * The outcome of a call that asked a person is unknown then; a plan is asked about again.
 */
export async function withdrawWaiting(run: RunContext): Promise<void> {
  const { inputs, planApproval } = run.progress;
  for (const asked of [...inputs, ...(planApproval ? [planApproval] : [])])
    if (!asked.decision) await withdraw(run, asked.approvalId);
}

/** In the journal of a run that goes on. The end of a run also cancels its question. */
export const isWithdrawn = ({ by }: Decision): boolean => by.kind === 'cancel';
