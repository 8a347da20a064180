import { GatewayError } from '../../../protocol/errors.ts';
import type { Principal } from './principal.ts';
import { RightsChanged } from './rights-changed.ts';

/**
 * Refuses to create rights while authentication is off: they would still hold once it is on again, although nobody knows
 * who asked for them.
 */
export function requireAuthentication(principal: Principal | undefined, to: string): void {
  if (principal?.source.kind !== 'local') return;
  throw new GatewayError('FORBIDDEN', `Authentication is off. To ${to}, start the daemon without --no-auth`);
}

/**
 * Refuses a caller whose credential has ended, or whose rights have changed, since the call was checked: its body came
 * late, it waited for other calls, or a password was being hashed.
 */
export function requireStanding(principal: Principal | undefined): void {
  if (!principal?.ended.aborted) return;
  if (principal.ended.reason instanceof RightsChanged) {
    throw new GatewayError('UNAVAILABLE', 'The rights of this credential have just changed. Repeat the call.');
  }
  throw new GatewayError('UNAUTHORIZED', 'The credential of this request was revoked or has expired');
}
