import type { PushSubscriptionTable } from '../store/schema/channels/push-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';

type Reading = Pick<Store, 'db'>;

export async function hasSubscriptions({ db }: Reading): Promise<boolean> {
  return (
    (await db.selectFrom('push_subscriptions').select('subscription_id').limit(1).executeTakeFirst()) !== undefined
  );
}

/** Oldest first; those of one principal, or all. */
export function readSubscriptions({ db }: Reading, principalId?: string): Promise<PushSubscriptionTable[]> {
  const rows = db.selectFrom('push_subscriptions').selectAll().orderBy('created_ms').orderBy('subscription_id');
  return (principalId === undefined ? rows : rows.where('principal_id', '=', principalId)).execute();
}

export function readSubscription({ db }: Reading, subscriptionId: string): Promise<PushSubscriptionTable | undefined> {
  const rows = db.selectFrom('push_subscriptions').selectAll();
  return rows.where('subscription_id', '=', subscriptionId).executeTakeFirst();
}

/** An endpoint belongs to one browser, which may have another person now. */
export const putSubscription = (row: PushSubscriptionTable): Statement[] => [
  statementOf(build.deleteFrom('push_subscriptions').where('endpoint', '=', row.endpoint)),
  statementOf(build.insertInto('push_subscriptions').values(row), 1),
];

export const deleteSubscription = (subscriptionId: string): Statement =>
  statementOf(build.deleteFrom('push_subscriptions').where('subscription_id', '=', subscriptionId));

/** How the last notification went. */
export const noteSent = (subscriptionId: string, sent: { last_sent_ms: number } | { problem: string }): Statement =>
  statementOf(
    build
      .updateTable('push_subscriptions')
      .set('problem' in sent ? sent : { ...sent, problem: null })
      .where('subscription_id', '=', subscriptionId),
  );

/** All logins end, and with them what they asked for. */
export const endNotificationsOfLogins = (): Statement =>
  statementOf(build.deleteFrom('push_subscriptions').where('login', '<>', ''));
