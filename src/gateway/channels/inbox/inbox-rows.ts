import { type Selectable, sql } from 'kysely';
import type { InboxState, InboxTable } from '../../store/schema/channels/channel-schema.ts';
import { build, statementOf } from '../../store/statements.ts';
import type { Statement, Store } from '../../store/store.ts';

/** A stored update. */
export interface InboxRow extends Selectable<InboxTable> {
  /** Further parts of the same message, which end together with it. */
  joined?: readonly InboxRow[];
}

/** An account at a chat service. */
export interface Account {
  channel: string;
  account: string;
}

/** An update that has just come. */
export interface ArrivedUpdate {
  /** As the service calls it. */
  updateId: string;
  /** Empty: it belongs to no chat. */
  chat: string;
  /** Empty: nobody in particular. */
  senderId: string;
  body: unknown;
}

/** Stores updates, each once. To be committed durably before the service is told that they arrived. */
export const storeUpdates = (
  { channel, account }: Account,
  updates: readonly ArrivedUpdate[],
  nowMs: number,
): Statement[] =>
  updates.map(({ updateId, chat, senderId, body }) => ({
    sql: `INSERT INTO channel_inbox (channel, account, update_id, chat, sender_id, body_json, state, received_ms)
          VALUES (?, ?, ?, ?, ?, ?, 'waiting', ?) ON CONFLICT DO NOTHING`,
    parameters: [channel, account, updateId, chat, senderId, JSON.stringify(body), nowMs],
  }));

/** What is known of an account; `nextUpdate`: the updates before it are stored and need not come again. */
export const putAccount = (
  { channel, account }: Account,
  { username, nextUpdate, nowMs }: { username: string; nextUpdate: number | null; nowMs: number },
): Statement => ({
  sql: `INSERT INTO channel_accounts (channel, account, username, next_update, updated_ms) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (channel, account) DO UPDATE SET username = excluded.username, next_update = excluded.next_update,
          updated_ms = excluded.updated_ms`,
  parameters: [channel, account, username, nextUpdate, nowMs],
  expect: 1,
});

export const readAccount = ({ db }: Pick<Store, 'db'>, { channel, account }: Account) =>
  db
    .selectFrom('channel_accounts')
    .selectAll()
    .where('channel', '=', channel)
    .where('account', '=', account)
    .executeTakeFirst();

/** The updates that have not ended, in the order in which they came. */
export const readWaiting = ({ db }: Pick<Store, 'db'>, { channel, account }: Account): Promise<InboxRow[]> =>
  db
    .selectFrom('channel_inbox')
    .selectAll()
    .where(sql<boolean>`state = 'waiting'`) // a literal, so that the partial index is used
    .where('channel', '=', channel)
    .where('account', '=', account)
    .orderBy('position')
    .execute();

/** Whether an update of a person came after `sinceMs`. */
export const hasWritten = async (
  { db }: Pick<Store, 'db'>,
  { channel, senderId, sinceMs }: { channel: string; senderId: string; sinceMs: number },
): Promise<boolean> => {
  const found = await db
    .selectFrom('channel_inbox')
    .select('position')
    .where('received_ms', '>', sinceMs)
    .where('channel', '=', channel)
    .where('sender_id', '=', senderId)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
};

type UpdateName = Pick<InboxRow, 'channel' | 'account' | 'update_id' | 'joined'>;

/** Undefined: it was removed. */
export const readState = async (
  { db }: Pick<Store, 'db'>,
  { channel, account, update_id }: UpdateName,
): Promise<InboxState | undefined> => {
  const row = await db
    .selectFrom('channel_inbox')
    .select('state')
    .where('channel', '=', channel)
    .where('account', '=', account)
    .where('update_id', '=', update_id)
    .executeTakeFirst();
  return row?.state;
};

const idsOf = ({ update_id: id, joined = [] }: UpdateName): string[] => [id, ...joined.map((part) => part.update_id)];

/** How an update ends, with its parts. Refused if it has ended, so that nothing happens twice because of it. */
export function endUpdate(
  update: UpdateName,
  end: {
    state: Exclude<InboxState, 'waiting'>;
    reason?: string | undefined;
    runId?: string | undefined;
    nowMs: number;
  },
): Statement {
  const { state, reason = null, runId = null, nowMs } = end;
  const ids = idsOf(update);
  return {
    sql: `UPDATE channel_inbox SET state = ?, reason = ?, run_id = ?, ended_ms = ?, body_json = NULL
          WHERE channel = ? AND account = ? AND update_id IN (${ids.map(() => '?').join(', ')}) AND state = 'waiting'`,
    parameters: [state, reason?.slice(0, 300) ?? null, runId, nowMs, update.channel, update.account, ...ids],
    expect: ids.length,
    tag: ENDED,
  };
}

/** Replaces the body of an update that has not ended. */
export const rewriteUpdate = ({ channel, account, update_id: id }: UpdateName, bodyJson: string): Statement => ({
  sql: `UPDATE channel_inbox SET body_json = ?
        WHERE channel = ? AND account = ? AND update_id = ? AND state = 'waiting'`,
  parameters: [bodyJson, channel, account, id],
  expect: 1,
  tag: ENDED,
});

/**
 * Ends updates of a chat because a later one stops them; those that have ended stay as they are. Whoever still handles one of
 * them is refused.
 */
export const endStopped = (
  { channel, account, chat, position }: Pick<InboxRow, 'channel' | 'account' | 'chat' | 'position'>,
  { ids, nowMs }: { ids: readonly string[]; nowMs: number },
): Statement =>
  statementOf(
    build
      .updateTable('channel_inbox')
      .set({ state: 'answered', reason: 'it was stopped', ended_ms: nowMs, body_json: null })
      .where('channel', '=', channel)
      .where('account', '=', account)
      .where('chat', '=', chat)
      .where('position', '<', position)
      .where('state', '=', 'waiting')
      .where('update_id', 'in', ids),
  );

/** Removes an update that was not for the bot. */
export const dropUpdate = (update: UpdateName): Statement =>
  statementOf(
    build
      .deleteFrom('channel_inbox')
      .where('channel', '=', update.channel)
      .where('account', '=', update.account)
      .where('update_id', 'in', idsOf(update)),
  );

/** Tags the statement that ends an update. */
export const ENDED = 'update ended';
