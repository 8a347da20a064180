import type { DecidedBy } from '../../protocol/stream-events.ts';
import type { Call } from './call.ts';
import { type Rights, rightsOf } from './rights.ts';

/** The caller, as stored with what the call accepts. */
export const callerOf = ({ principal }: Pick<Call, 'principal'>): { principal: string; rights: Rights } =>
  principal
    ? { principal: principal.id, rights: rightsOf(principal.scopes) }
    : { principal: 'unknown', rights: 'public' };

export const deciderOf = (call: Pick<Call, 'principal'>): DecidedBy => ({
  kind: 'principal',
  id: callerOf(call).principal,
});
