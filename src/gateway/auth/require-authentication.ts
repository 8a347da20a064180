import { GatewayError } from '../../../protocol/errors.ts';
import type { Principal } from './principal.ts';

/**
 * Refuses to create rights while authentication is off: they would still hold once it is on again, although nobody knows
 * who asked for them.
 */
export function requireAuthentication(principal: Principal | undefined, to: string): void {
  if (principal?.source.kind !== 'local') return;
  throw new GatewayError('FORBIDDEN', `Authentication is off. To ${to}, start the daemon without --no-auth`);
}
