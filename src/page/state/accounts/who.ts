import type { Result } from '../../../../protocol/index.ts';
import type { WorkstreamRow } from '../../../../protocol/methods/conversation/listing.ts';

/** The caller as the daemon knows it, with its permissions. */
export type Who = Result<'auth.whoami'>;

/** Whether a user is logged in, and not the operator or an API token. */
export const isUser = (who: Who | undefined): boolean => who?.username !== undefined;

/** Whether it is the main session or one of a job, which stay shared and the operator’s. */
export const isOfEveryone = ({ sessionKey }: Pick<WorkstreamRow, 'sessionKey'>): boolean =>
  sessionKey === 'main' || sessionKey.startsWith('cron:');

/**
 * Whether to offer the choice of who sees a workstream. Without users there is nobody to hide it from, so the operator
 * gets it only for private ones.
 */
export function mayShare(
  who: Who | undefined,
  row: Pick<WorkstreamRow, 'sessionKey' | 'userId' | 'visibility'>,
  hasUsers: boolean,
): boolean {
  if (who === undefined || isOfEveryone(row)) return false;
  if (isUser(who) && who.userId === row.userId) return true;
  return who.permissions.includes('workstreams.all') && (hasUsers || row.visibility === 'private');
}
