import type { SenderTable } from '../../store/schema/channels/channel-schema.ts';
import { build, statementOf } from '../../store/statements.ts';
import type { Statement, Store } from '../../store/store.ts';

interface SenderName {
  channel: string;
  senderId: string;
}

export const readSender = (
  { db }: Pick<Store, 'db'>,
  { channel, senderId }: SenderName,
): Promise<SenderTable | undefined> =>
  db
    .selectFrom('channel_senders')
    .selectAll()
    .where('channel', '=', channel)
    .where('sender_id', '=', senderId)
    .executeTakeFirst();

export const readSenders = ({ db }: Pick<Store, 'db'>): Promise<SenderTable[]> =>
  db.selectFrom('channel_senders').selectAll().orderBy('updated_ms', 'desc').limit(1_000).execute();

/** The people who are linked to a user. */
export const readSendersOf = (
  { db }: Pick<Store, 'db'>,
  userId: string,
): Promise<Pick<SenderTable, 'channel' | 'sender_id'>[]> =>
  db.selectFrom('channel_senders').select(['channel', 'sender_id']).where('user_id', '=', userId).execute();

/** Those whose code can still be approved. */
export const readPending = ({ db }: Pick<Store, 'db'>, channel: string, nowMs: number): Promise<SenderTable[]> =>
  db
    .selectFrom('channel_senders')
    .selectAll()
    .where('channel', '=', channel)
    .where('status', '=', 'pending')
    .where('code_expires_ms', '>', nowMs)
    .execute();

/**
 * A person asks to be approved; their former code ends. Never changes a person who was decided about. Refused when as many
 * others wait as may: people of several chats ask at the same time.
 */
export const askForPairing = (asked: {
  channel: string;
  senderId: string;
  name: string;
  codeHash: string;
  expiresMs: number;
  nowMs: number;
  /** How many may wait at once. */
  most: number;
}): Statement => ({
  sql: `INSERT INTO channel_senders (channel, sender_id, status, name, user_id, code_hash, code_expires_ms, replied_ms,
          created_ms, updated_ms)
        SELECT ?1, ?2, 'pending', ?3, '', ?4, ?5, ?6, ?6, ?6
        WHERE (SELECT count(*) FROM channel_senders WHERE channel = ?1 AND status = 'pending' AND code_expires_ms > ?6
          AND sender_id <> ?2) < ?7
        ON CONFLICT (channel, sender_id) DO UPDATE SET status = 'pending', name = ?3, code_hash = ?4, code_expires_ms = ?5, replied_ms = ?6, updated_ms = ?6
          WHERE channel_senders.status IN ('pending', 'restored')`,
  parameters: [asked.channel, asked.senderId, asked.name, asked.codeHash, asked.expiresMs, asked.nowMs, asked.most],
  expect: 1,
});

/** Approves a person. Refused when their code was used or replaced meanwhile. */
export const approveSender = (
  { channel, senderId }: SenderName,
  { codeHash, userId, by, nowMs }: { codeHash: string; userId: string; by: string; nowMs: number },
): Statement =>
  statementOf(
    build
      .updateTable('channel_senders')
      .set({
        status: 'approved',
        user_id: userId,
        code_hash: null,
        code_expires_ms: null,
        decided_by: by,
        updated_ms: nowMs,
      })
      .where('channel', '=', channel)
      .where('sender_id', '=', senderId)
      .where('code_hash', '=', codeHash),
    1,
  );

/** Ends the approval of a person, refuses one who asks, or one whom the configuration allows. */
export const revokeSender = (
  { channel, senderId }: SenderName,
  { by, nowMs }: { by: string; nowMs: number },
): Statement => ({
  sql: `INSERT INTO channel_senders (channel, sender_id, status, name, user_id, decided_by, created_ms, updated_ms)
        VALUES (?1, ?2, 'revoked', '', '', ?3, ?4, ?4)
        ON CONFLICT (channel, sender_id) DO UPDATE SET status = 'revoked', code_hash = NULL, code_expires_ms = NULL, decided_by = ?3,
          updated_ms = ?4`,
  parameters: [channel, senderId, by, nowMs],
  expect: 1,
});

/**
 * Ends a revocation. The person needs a code again, which comes with the next message: an approval always goes to somebody
 * who writes now. Refused when the person is not revoked.
 */
export const restoreSender = (
  { channel, senderId }: SenderName,
  { by, nowMs }: { by: string; nowMs: number },
): Statement =>
  statementOf(
    build
      .updateTable('channel_senders')
      .set({ status: 'restored', replied_ms: null, decided_by: by, updated_ms: nowMs })
      .where('channel', '=', channel)
      .where('sender_id', '=', senderId)
      .where('status', '=', 'revoked'),
    1,
  );

/** How many messages of each person were refused, of those that are still stored, and when the last of them came. */
export const countBlocked = ({ db }: Pick<Store, 'db'>) =>
  db
    .selectFrom('channel_inbox')
    .select(({ fn }) => [
      'channel',
      'sender_id',
      fn.countAll<number>().as('count'),
      fn.max('received_ms').as('last_ms'),
    ])
    .where('state', '=', 'blocked')
    .groupBy(['channel', 'sender_id'])
    .execute();
