import { GatewayError } from '../../../protocol/errors.ts';
import type { Rule } from '../../../protocol/methods/admin/rule.ts';
import type { Viewer } from '../sharing/perception.ts';

type Place = Pick<Rule, 'wsId' | 'folder' | 'userId'>;

/**
 * Whether a caller who decides about calls may give a rule in a place, or change it: in one workstream, and for their own
 * workstreams. All other places are about other people, too.
 */
const mayGiveIn = (giver: Viewer, { wsId, userId }: Place): boolean =>
  giver.permissions.has('admin.policies') || wsId !== undefined || (userId !== undefined && userId === giver.userId);

/** Throws FORBIDDEN. */
export function requireGiver(giver: Viewer, place: Place): void {
  if (mayGiveIn(giver, place)) return;
  throw new GatewayError(
    'FORBIDDEN',
    'Rules for other users, for all who work in a folder, and for everywhere need the permission admin.policies',
  );
}
