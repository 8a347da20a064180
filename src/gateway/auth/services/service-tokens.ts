import { GatewayError } from '../../../../protocol/errors.ts';
import { LIMITS } from '../../../../protocol/limits.ts';
import { expandScopes } from '../../rights.ts';
import type { Statement, Store } from '../../store/store.ts';
import type { Minter } from '../lineage.ts';
import type { Principal } from '../principal.ts';

/** What a service token may do: everything on the ladder, and what only services do (decision 70). */
export const SERVICE_SCOPES = expandScopes(['approve', 'service']);

/** Whether a service token made the call. */
export const isService = ({ scopes }: Pick<Principal, 'scopes'>): boolean => scopes.has('service');

/**
 * Only the operator creates service tokens, also by a login through the operator's link. They pass every permission check,
 * and no role allows that.
 */
export function requireOperator({ parent }: Minter): void {
  if (parent.kind === 'operator') return;
  throw new GatewayError('FORBIDDEN', 'Only the operator can create a token with the scope "service"');
}

/** A service token lives an hour at most, so that one that leaked is soon worthless. */
export function serviceLifeMs(askedMs: number = LIMITS.serviceTokenMs): number {
  if (askedMs <= LIMITS.serviceTokenMs) return askedMs;
  throw new GatewayError(
    'INVALID_REQUEST',
    `expiresInMs: a service token lives at most one hour (${LIMITS.serviceTokenMs}). Renew it with token.refresh`,
  );
}

/** Gives a token that is not revoked another secret and another end. Refused if it was revoked in the meantime. */
export const renewal = (
  tokenId: string,
  values: { token_hash: string; token_prefix: string; expires_ms: number },
  { db }: Pick<Store, 'db'>,
): Statement => ({
  ...db.updateTable('api_tokens').set(values).where('token_id', '=', tokenId).where('revoked_ms', 'is', null).compile(),
  expect: 1,
});
