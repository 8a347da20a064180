import { GatewayError } from '../../../protocol/errors.ts';
import { POLICY_ACTIONS, type PolicyAction } from '../../../protocol/events/policy-actions.ts';

/** Throws with the words that clients of the specification expect. */
export function checkAction(action: string | undefined): PolicyAction {
  const known = POLICY_ACTIONS.find((one) => one === action);
  if (known !== undefined) return known;
  throw new GatewayError('INVALID_REQUEST', `action must be one of: ${POLICY_ACTIONS.join(', ')}`);
}

/**
 * A pattern with a class of characters would match nothing, and a rule that denies would silently let calls pass, so it is
 * refused.
 */
export function checkPattern(toolPattern: string): string {
  const trimmed = toolPattern.trim();
  if (trimmed === '') throw new GatewayError('INVALID_REQUEST', 'tool_pattern is required');
  if (/[[\]{}!\\]/.test(trimmed))
    throw new GatewayError('INVALID_REQUEST', 'tool_pattern may contain * and ?, but none of [ ] { } ! \\');
  return trimmed;
}
