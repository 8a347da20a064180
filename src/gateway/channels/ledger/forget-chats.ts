import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { build, statementOf } from '../../store/statements.ts';
import type { Statement, Store } from '../../store/store.ts';

const DAY_MS = 86_400_000;
/** WhatsApp sends updates again for seven days. Until then, their rows show that they came before. */
const MIN_INBOX_DAYS = 8;
/** Rows per transaction, so that many old rows do not block the event loop. */
const BATCH = 1_000;

type ForgettingStore = Pick<Store, 'db' | 'commit'>;

/** Removes updates that ended long ago, and parts of messages that are not to be sent any more. */
export async function forgetChats(
  store: ForgettingStore,
  { nowMs, days, signal }: { nowMs: number; days: number; signal: AbortSignal },
): Promise<void> {
  const inboxBeforeMs = nowMs - Math.max(days, MIN_INBOX_DAYS) * DAY_MS;
  await inBatches(store, () => forgetUpdates(store, inboxBeforeMs), signal);
  await inBatches(store, () => forgetParts(store, nowMs - days * DAY_MS), signal);
}

async function inBatches(
  store: ForgettingStore,
  next: () => Promise<Statement | undefined>,
  signal: AbortSignal,
): Promise<void> {
  for (let statement = await next(); statement && !signal.aborted; statement = await next()) {
    await store.commit({ statements: [statement] });
    await nextTurn();
  }
}

async function forgetUpdates({ db }: ForgettingStore, beforeMs: number): Promise<Statement | undefined> {
  const old = await db
    .selectFrom('channel_inbox')
    .select('position')
    .where('received_ms', '<', beforeMs)
    .where('state', '<>', 'waiting')
    .orderBy('received_ms')
    .limit(BATCH)
    .execute();
  if (old.length === 0) return undefined;
  const positions = old.map(({ position }) => position);
  return statementOf(build.deleteFrom('channel_inbox').where('position', 'in', positions));
}

/** While a message waits, its parts show what was already sent. */
async function forgetParts({ db }: ForgettingStore, beforeMs: number): Promise<Statement | undefined> {
  const old = await db
    .selectFrom('channel_chunks')
    .select(['message_id', 'chunk'])
    .where('updated_ms', '<', beforeMs)
    .where(
      sql<boolean>`not exists (
        select 1 from outbox where outbox.message_id = channel_chunks.message_id and status = 'pending')`,
    )
    .orderBy('updated_ms')
    .limit(BATCH)
    .execute();
  if (old.length === 0) return undefined;
  const ids = old.map(({ message_id: id }) => id);
  return statementOf(
    build.deleteFrom('channel_chunks').where('message_id', 'in', ids).where('updated_ms', '<', beforeMs),
  );
}
