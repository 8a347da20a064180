import { RequestError as AcpError, type PromptResponse, type StopReason } from '@agentclientprotocol/sdk';
import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import { toSafeText } from '../terminal/safe-text.ts';

/** How a run ended, as far as it is known. */
export type RunEnd = Pick<RunOutcome, 'status'> & Partial<RunOutcome>;

const REASONS: Record<Exclude<RunEnd['status'], 'error'>, StopReason> = {
  ok: 'end_turn',
  cancelled: 'cancelled',
  incomplete: 'max_tokens',
  timeout: 'max_turn_requests',
};

/** The answer to a prompt. Throws for a run that failed, because no reason to stop stands for that. */
export function toPromptResponse({ status, error, limit, failed }: RunEnd): PromptResponse {
  if (failed?.code === 'content_filter') return { stopReason: 'refusal' };
  if (limit !== undefined) return { stopReason: 'max_turn_requests' };
  if (status !== 'error') return { stopReason: REASONS[status] };
  throw new AcpError(-32_603, toSafeText(error ?? 'The run failed'));
}
