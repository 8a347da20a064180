import { type RawBuilder, sql } from 'kysely';
import { perceivedBy, seesEverything, type Viewer } from '../sharing/perception.ts';
import type { OutboxTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import type { Delivery } from './channel.ts';
import { isGivenAway, isOnlyNamed } from './inbox/chat-rows.ts';

export interface NewOutboxMessage extends Delivery {
  provider: string;
  /** The session whose run sent it; the session's next `last` uses the same destination. */
  wsId?: string | undefined;
}

/** Accepts a message: from here on it is delivered at least once. */
export const insertDelivery = ({ provider, wsId, to, acceptedMs, ...message }: NewOutboxMessage): Statement => ({
  sql: `INSERT INTO outbox (message_id, seq, provider, destination, ws_id, sender, message, media_url, status, attempts,
          next_ms, error, accepted_ms, ended_ms)
        SELECT ?, COALESCE(MAX(seq), 0) + 1, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, NULL, ?, NULL FROM outbox`,
  parameters: [
    ...[message.messageId, provider, to, wsId ?? null, message.from, message.message, message.mediaUrl ?? null],
    ...[acceptedMs, acceptedMs],
  ],
});

/** Writes the final record; refused when there is one already. */
export const endDelivery = (
  messageId: string,
  end: { status: 'delivered' | 'dead'; attempts: number; error: string | null; nowMs: number },
): Statement =>
  statementOf(
    build
      .updateTable('outbox')
      .set({ status: end.status, attempts: end.attempts, error: end.error, ended_ms: end.nowMs })
      .where('message_id', '=', messageId)
      .where('status', '=', 'pending'),
    1,
  );

/** Ends what waits for the direct chat of a person, except what somebody has sent there by name. */
export const endWaitingFor = (
  { channel, senderId }: { channel: string; senderId: string },
  nowMs: number,
): Statement => ({
  sql: `UPDATE outbox SET status = 'dead', error = 'the person was revoked', ended_ms = ?3
        WHERE provider = ?1 AND status = 'pending' AND (ws_id IS NOT NULL OR sender = 'headgate')
          AND destination IN (SELECT chat FROM channel_chats WHERE channel = ?1 AND kind = 'dm' AND last_sender = ?2)`,
  parameters: [channel, senderId, nowMs],
});

/** The same for the people who are linked to a user. */
export const endWaitingForUser = (userId: string, nowMs: number): Statement => ({
  sql: `UPDATE outbox SET status = 'dead', error = 'the user of the person may not log in', ended_ms = ?2
        WHERE status = 'pending' AND (ws_id IS NOT NULL OR sender = 'headgate')
          AND EXISTS (SELECT 1 FROM channel_chats
            JOIN channel_senders ON channel_senders.channel = channel_chats.channel AND sender_id = last_sender
            WHERE channel_chats.channel = outbox.provider AND chat = outbox.destination AND kind = 'dm' AND user_id = ?1)`,
  parameters: [userId, nowMs],
});

/** The same for the direct chat of a conversation that is no longer its person's. Commit it after the change of the workstream. */
export const endWaitingForGivenAway = (wsId: string, nowMs: number): Statement =>
  statementOf(
    build
      .updateTable('outbox')
      .set({ status: 'dead', error: 'the conversation was given to somebody else', ended_ms: nowMs })
      .where('status', '=', 'pending')
      .where((of) => of.or([of('ws_id', 'is not', null), of('sender', '=', 'headgate')]))
      .where(
        sql<boolean>`exists (
          select 1 from channel_chats
          where channel_chats.channel = outbox.provider and chat = outbox.destination and channel_chats.ws_id = ${wsId}
            and ${isGivenAway})`,
      ),
  );

export const putOff = (messageId: string, later: { attempts: number; error: string; nextMs: number }): Statement =>
  statementOf(
    build
      .updateTable('outbox')
      .set({ attempts: later.attempts, error: later.error, next_ms: later.nextMs })
      .where('message_id', '=', messageId)
      .where('status', '=', 'pending'),
    1,
  );

/** A message that is the first of its destination, without its texts: thousands of destinations may wait. */
export type Head = Pick<OutboxTable, 'message_id' | 'provider' | 'destination' | 'next_ms'>;

/** The first pending message of each destination. Later ones must not overtake it. */
export const readHeads = ({ db }: Pick<Store, 'db'>): Promise<Head[]> =>
  db
    .selectFrom('outbox')
    .select(['message_id', 'provider', 'destination', 'next_ms'])
    .where('seq', 'in', (inner) =>
      inner
        .selectFrom('outbox')
        .select(({ fn }) => fn.min('seq').as('seq'))
        .where('status', '=', 'pending')
        .groupBy(['provider', 'destination']),
    )
    .orderBy('seq')
    .execute();

/** The first pending message of one destination. */
export const readHead = (
  { db }: Pick<Store, 'db'>,
  { provider, destination }: Pick<Head, 'provider' | 'destination'>,
): Promise<Head | undefined> =>
  db
    .selectFrom('outbox')
    .select(['message_id', 'provider', 'destination', 'next_ms'])
    .where('status', '=', 'pending')
    .where('provider', '=', provider)
    .where('destination', '=', destination)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();

/** Undefined: it has ended. */
export const readPending = ({ db }: Pick<Store, 'db'>, messageId: string): Promise<OutboxTable | undefined> =>
  db
    .selectFrom('outbox')
    .selectAll()
    .where('message_id', '=', messageId)
    .where('status', '=', 'pending')
    .executeTakeFirst();

/** Why a message is not to be sent any further; undefined: it is. */
export const readGivenUp = async ({ db }: Pick<Store, 'db'>, messageId: string): Promise<string | undefined> => {
  const outbox = db.selectFrom('outbox').select('error').where('message_id', '=', messageId);
  const found = await outbox.where('status', '=', 'dead').executeTakeFirst();
  return found && (found.error ?? 'it was given up');
};

/** Whether a destination has messages that wait. */
export const isAwaited = async (
  { provider, destination }: Pick<OutboxTable, 'provider' | 'destination'>,
  { db }: Pick<Store, 'db'>,
): Promise<boolean> => {
  const waiting = db.selectFrom('outbox').select('message_id').where('status', '=', 'pending');
  const first = await waiting
    .where('provider', '=', provider)
    .where('destination', '=', destination)
    .limit(1)
    .executeTakeFirst();
  return first !== undefined;
};

/** The principal that asked for a run; undefined if the run was deleted. */
export const readPrincipal = async ({ db }: Pick<Store, 'db'>, runId: string): Promise<string | undefined> =>
  (await db.selectFrom('runs').select('principal').where('run_id', '=', runId).executeTakeFirst())?.principal;

/**
 * Whether a message goes to no workstream, or to one that the viewer perceives. Those to workstreams that do not exist may
 * have gone to private ones.
 */
const goesToPerceived = (viewer: Viewer): RawBuilder<boolean> =>
  seesEverything(viewer)
    ? sql`true`
    : sql`(outbox.provider <> 'workstream' or exists (
        select 1 from workstreams
        where outbox.destination in (workstreams.ws_id, workstreams.session_key, workstreams.alias)
          and ${perceivedBy(viewer)}))`;

/** The same for the workstream whose run sent it. */
const comesFromPerceived = (viewer: Viewer): RawBuilder<boolean> =>
  seesEverything(viewer)
    ? sql`true`
    : sql`(outbox.ws_id is null or exists (
        select 1 from workstreams where workstreams.ws_id = outbox.ws_id and ${perceivedBy(viewer)}))`;

/** Whether the principal sent it, or asked for the run that did. */
const isSentBy = (principal: string): RawBuilder<boolean> =>
  sql`(outbox.sender = ${principal} and outbox.ws_id is null or exists (
    select 1 from runs where runs.run_id = outbox.sender and runs.principal = ${principal}))`;

/** Whose last message is asked for. */
export interface AskedLast {
  wsId: string;
  provider?: string | undefined;
  viewer: Viewer;
}

/** Counts pending and abandoned messages, and reads the latest abandoned ones that the caller sent, or perceives both ends of. */
export async function readState(
  { db }: Pick<Store, 'db'>,
  { viewer, principal }: { viewer: Viewer; principal: string },
) {
  const counts = await db
    .selectFrom('outbox')
    .select(['status', ({ fn }) => fn.countAll<number>().as('count')])
    .where('status', 'in', ['pending', 'dead'])
    .groupBy('status')
    .execute();
  const countOf = (status: string) => Number(counts.find((row) => row.status === status)?.count ?? 0);
  const isPerceived = sql<boolean>`(${goesToPerceived(viewer)} and ${comesFromPerceived(viewer)})`;
  const isShown = sql<boolean>`(${isPerceived} or ${isSentBy(principal)})`;
  const dead = db.selectFrom('outbox').selectAll().where('status', '=', 'dead').where(isShown);
  const latest = dead.orderBy('seq', 'desc').limit(5);
  return { waiting: countOf('pending'), dead: countOf('dead'), latestDead: await latest.execute() };
}

/** Where a session's last message went, among those to destinations that the viewer perceives. Not to chats that only a name leads to. */
export const readLast = (
  { db }: Pick<Store, 'db'>,
  { wsId, provider, viewer, except }: AskedLast & { except: readonly Pick<OutboxTable, 'provider' | 'destination'>[] },
) =>
  db
    .selectFrom('outbox')
    .select(['provider', 'destination'])
    .where('ws_id', '=', wsId)
    .where(goesToPerceived(viewer))
    .where(
      sql<boolean>`not exists (
        select 1 from channel_chats
        where channel_chats.channel = outbox.provider and channel_chats.chat = outbox.destination and ${isOnlyNamed})`,
    )
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
    .where((row) =>
      row.and(
        except.map((place) =>
          row.or([row('provider', '<>', place.provider), row('destination', '<>', place.destination)]),
        ),
      ),
    )
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
