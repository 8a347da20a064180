import type { NoticeContent } from '../../../../../protocol/methods/channels/push.ts';
import type { LineageColumns } from '../../../auth/parent.ts';

/** The table of browsers that get notifications (Web Push). */
export interface PushTables {
  push_subscriptions: PushSubscriptionTable;
}

/** A browser. Primary key subscription_id; unique by endpoint. */
export interface PushSubscriptionTable extends LineageColumns {
  subscription_id: string;
  /** The principal that subscribed. */
  principal_id: string;
  /** The login that it belongs to; empty: another credential. Revoking that login deletes the row. */
  login: string;
  /** Of the user, when it subscribed: a later one means that the logins of that time have ended. */
  version: number;
  endpoint: string;
  /** With these two, messages to the browser are encrypted. */
  p256dh: string;
  auth: string;
  content: NoticeContent;
  label: string;
  created_ms: number;
  last_sent_ms: number | null;
  problem: string | null;
}

/** Schema version 51: browsers that get notifications. */
export const pushes: readonly string[] = [
  `create table push_subscriptions (
    subscription_id text not null primary key, principal_id text not null, login text not null,
    parent_kind text not null, parent_id text not null, version bigint not null, endpoint text not null unique,
    p256dh text not null, auth text not null, content text not null, label text not null, created_ms bigint not null,
    last_sent_ms bigint, problem text
  )`,
  'create index push_subscriptions_by_principal on push_subscriptions (principal_id)',
  'create index push_subscriptions_by_login on push_subscriptions (login)',
];
