import { BUILTIN_ROLES, type Permission } from '../../../../protocol/methods/accounts/permissions.ts';
import type { Bounds } from '../../auth/lineage.ts';
import type { Principal } from '../../auth/principal.ts';
import { expandScopes, lesserOf, mayDecide, type Rights, rightsOf } from '../../rights.ts';
import type { SenderTable } from '../../store/schema/channels/channel-schema.ts';
import type { ChatSettings } from './chat-settings.ts';

/** A person who may write, as a caller. */
export interface ActingSender {
  principal: Principal;
  /** What the person's own words may do. */
  rights: Rights;
  mayApprove: boolean;
}

/** The users to whom people may be linked. */
export interface SenderUsers {
  boundsOf(userId: string): Bounds | undefined;
}

export const principalIdOf = (channel: string, senderId: string): string => `${channel}:${senderId}`;

const NEVER_ENDS = new AbortController().signal;

/** The sender as a caller; undefined if the user whom the sender is linked to may not log in. */
export function actAs(
  { channel, senderId }: { channel: string; senderId: string },
  {
    known,
    settings,
    users,
  }: { known: SenderTable | undefined; settings: Pick<ChatSettings, 'approvers'>; users: SenderUsers },
): ActingSender | undefined {
  const userId = known?.user_id ?? '';
  const bounds = userId === '' ? undefined : users.boundsOf(userId);
  if (userId !== '' && bounds === undefined) return undefined;
  const isApprover = settings.approvers.has(senderId);
  const most = bounds ?? ofOperator(isApprover);
  const decides = isApprover && mayDecide(most);
  const rights = lesserOf(rightsOf(most.scopes), decides ? 'approve' : 'write');
  const principal: Principal = {
    id: principalIdOf(channel, senderId),
    scopes: expandScopes([rights]),
    permissions: most.permissions,
    ...(userId !== '' && { userId }),
    source: { kind: 'channel' },
    ended: NEVER_ENDS,
  };
  return { principal, rights, mayApprove: decides };
}

/** What the operator lends to people who are linked to no user. */
function ofOperator(isApprover: boolean): Pick<Bounds, 'scopes' | 'permissions'> {
  const usual: readonly Permission[] = BUILTIN_ROLES['builtin-operator'].permissions;
  return {
    scopes: expandScopes([isApprover ? 'approve' : 'write']),
    permissions: new Set<Permission>([...usual, ...(isApprover ? (['approve', 'tools.approve'] as const) : [])]),
  };
}
