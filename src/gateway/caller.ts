import { GatewayError } from '../../protocol/errors.ts';
import type { DecidedBy } from '../../protocol/stream-events.ts';
import { requireFreshProof } from './auth/fresh-proof.ts';
import type { Call } from './call.ts';
import { lesserOf, mayDecide, rightsOf, type Sender } from './rights.ts';
import type { Namer } from './workstreams/workdirs.ts';

/** The caller, as stored with what the call accepts. */
export function callerOf({ principal }: Pick<Call, 'principal'>): Sender {
  if (!principal) return { principal: 'unknown', rights: 'public' };
  const { id, scopes, userId } = principal;
  const rights = lesserOf(rightsOf(scopes), mayDecide(principal) ? 'approve' : 'write');
  return { principal: id, rights, ...(userId !== undefined && { sender: userId }) };
}

export const mayApprove = ({ principal }: Pick<Call, 'principal'>): boolean =>
  principal !== undefined && mayDecide(principal);

/** The caller, as one who chooses a folder. */
export const namerOf = (call: Pick<Call, 'principal'>): Namer => ({
  id: call.principal?.id ?? 'unknown',
  mayApprove: mayApprove(call),
});

export const deciderOf = (call: Pick<Call, 'principal'>): DecidedBy => ({
  kind: 'principal',
  id: callerOf(call).principal,
});

/**
 * `auto_approve` approves all later calls, so it requires the approve scope, and of a browser a fresh proof: rows ask for
 * one only where the params say so, and a template may, too.
 */
export function requireApproveFor(autoApprove: boolean | undefined, call: Call): void {
  if (!autoApprove) return;
  if (!mayApprove(call))
    throw new GatewayError(
      'FORBIDDEN',
      "auto-approve needs the approve scope and the permission 'approve' or 'tools.approve'",
    );
  requireFreshProof(call.principal);
}
