import { sql } from 'kysely';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import type { OutboxTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import type { Delivery } from './channel.ts';

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

export const putOff = (messageId: string, later: { attempts: number; error: string; nextMs: number }): Statement =>
  statementOf(
    build
      .updateTable('outbox')
      .set({ attempts: later.attempts, error: later.error, next_ms: later.nextMs })
      .where('message_id', '=', messageId)
      .where('status', '=', 'pending'),
    1,
  );

/** The first pending message of each destination. Later ones must not overtake it. */
export const readHeads = ({ db }: Pick<Store, 'db'>): Promise<OutboxTable[]> =>
  db
    .selectFrom('outbox')
    .selectAll()
    .where('seq', 'in', (inner) =>
      inner
        .selectFrom('outbox')
        .select(({ fn }) => fn.min('seq').as('seq'))
        .where('status', '=', 'pending')
        .groupBy(['provider', 'destination']),
    )
    .execute();

/** Counts pending and abandoned messages, and reads the latest abandoned ones, except those to workstreams that the viewer does not perceive. */
export async function readState({ db }: Pick<Store, 'db'>, viewer: Viewer) {
  const counts = await db
    .selectFrom('outbox')
    .select(['status', ({ fn }) => fn.countAll<number>().as('count')])
    .where('status', 'in', ['pending', 'dead'])
    .groupBy('status')
    .execute();
  const countOf = (status: string) => Number(counts.find((row) => row.status === status)?.count ?? 0);
  const isHidden = sql<boolean>`exists (select 1 from workstreams where workstreams.ws_id = destination and not ${perceivedBy(viewer)})`;
  const dead = db.selectFrom('outbox').selectAll().where('status', '=', 'dead').where(sql<boolean>`not ${isHidden}`);
  const latest = dead.orderBy('seq', 'desc').limit(5);
  return { waiting: countOf('pending'), dead: countOf('dead'), latestDead: await latest.execute() };
}

/** Where a session's last message went. */
export const readLast = (
  { db }: Pick<Store, 'db'>,
  { wsId, provider }: { wsId: string; provider?: string | undefined },
) =>
  db
    .selectFrom('outbox')
    .select(['provider', 'destination'])
    .where('ws_id', '=', wsId)
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
