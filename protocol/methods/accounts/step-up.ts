import { GatewayError } from '../../errors.ts';
import { isRecord } from '../../is-record.ts';

/** How long after a person has proved who they are a browser session may call methods with `stepUp`. */
export const STEP_UP_MS = 5 * 60_000;

/**
 * The details of a FORBIDDEN that `auth.confirm` can lift. `by`: what the person has to give; `link` also means a code or
 * the token that the session began with.
 */
export interface StepUpDetails {
  reason: 'step_up';
  by: 'password' | 'link';
}

/** Also the `code` in the body of an HTTP answer. */
const REASON = 'step_up';

/** Refuses a browser session that somebody may have left open. */
export function stepUpNeeded(by: StepUpDetails['by']): GatewayError {
  const means =
    by === 'password' ? 'with your password, or log in again through your provider' : 'with a new login link';
  const details: StepUpDetails = { reason: REASON, by };
  return new GatewayError('FORBIDDEN', `Forbidden: the login is older than 5 minutes; confirm it ${means}`, {
    details,
  });
}

/** The details, if they are those of a step-up. */
export function findStepUp(details: unknown): StepUpDetails | undefined {
  if (!isRecord(details) || details.reason !== REASON) return undefined;
  return { reason: REASON, by: details.by === 'password' ? 'password' : 'link' };
}
