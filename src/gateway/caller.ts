import type { DecidedBy } from '../../protocol/stream-events.ts';
import type { Call } from './call.ts';
import { holds, type Rights, rightsOf } from './rights.ts';
import type { Namer } from './workstreams/workdirs.ts';

/** The caller, as stored with what the call accepts. */
export const callerOf = ({ principal }: Pick<Call, 'principal'>): { principal: string; rights: Rights } =>
  principal
    ? { principal: principal.id, rights: rightsOf(principal.scopes) }
    : { principal: 'unknown', rights: 'public' };

export const mayApprove = ({ principal }: Pick<Call, 'principal'>): boolean =>
  principal !== undefined && holds(principal.scopes, 'approve');

/** The caller, as one who chooses a folder. */
export const namerOf = (call: Pick<Call, 'principal'>): Namer => ({
  id: call.principal?.id ?? 'unknown',
  mayApprove: mayApprove(call),
});

export const deciderOf = (call: Pick<Call, 'principal'>): DecidedBy => ({
  kind: 'principal',
  id: callerOf(call).principal,
});
