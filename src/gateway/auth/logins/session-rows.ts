import { sql } from 'kysely';
import { build, statementOf } from '../../store/statements.ts';
import type { Statement } from '../../store/store.ts';
import { familyOf, following } from './session-table.ts';

/** Ends one session, with its notifications. */
export const revocationOf = (jti: string, nowMs: number): Statement[] => [
  revoke([jti], nowMs),
  statementOf(build.deleteFrom('push_subscriptions').where('login', '=', jti)),
];

/** Ends these sessions of a family, with the notifications of all of it: also of sessions that have expired. */
export function revocationOfFamily(jti: string, jtis: readonly string[], nowMs: number): Statement[] {
  const family = familyOf(jti);
  const later = following(family, '');
  const notified = build
    .deleteFrom('push_subscriptions')
    .where(({ or, eb }) =>
      or([eb('login', '=', family), eb(sql`substr(login, 1, ${sql.lit(later.length)})`, '=', later)]),
    );
  return [revoke([jti, ...jtis], nowMs), statementOf(notified)];
}

const revoke = (jtis: readonly string[], nowMs: number): Statement =>
  statementOf(build.updateTable('login_sessions').set({ revoked_ms: nowMs }).where('jti', 'in', jtis));
