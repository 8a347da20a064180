import { sql } from 'kysely';
import { GatewayError } from '../../../../protocol/errors.ts';
import { DELETED } from '../../store/deletion.ts';
import type { WorkstreamTable } from '../../store/schema/schema.ts';
import { build, statementOf } from '../../store/statements.ts';
import type { Statement, Store } from '../../store/store.ts';
import { kindOfKey } from '../../workstreams/session-keys.ts';
import { hostedBy } from '../elsewhere.ts';

type Fixed = Pick<WorkstreamTable, 'session_key' | 'kind' | 'parent_ws_id'>;

/** Why a workstream stays with the active daemon, whatever it does; undefined: it may move. */
export function whyFixed({ session_key: key, kind, parent_ws_id: parent }: Fixed): string | undefined {
  const of = key === null ? 'alias' : kindOfKey(key);
  if (of === 'fixed' || of === 'chat') return 'The main session and the workstreams of jobs and chats do not move';
  if (kind !== 'interactive' || parent !== null)
    return 'Coordinators and the workstreams that work for them stay with the active machine';
  return undefined;
}

/** A chat writes in it. */
export const inChat = (): GatewayError =>
  new GatewayError('CONFLICT', 'Somebody writes in this workstream from a chat, so it stays with the active machine');

/** The workstream is in use. Try again later. */
export const inUse = (): GatewayError =>
  new GatewayError('CONFLICT', 'The workstream is in use: it moves only while it is idle and no message waits', {
    retryable: true,
  });

/** Background commands and watches run on the machine. */
export const watching = (): GatewayError =>
  new GatewayError('CONFLICT', 'Something runs in the background of this workstream. It moves when that has ended');

/**
 * Makes a workstream that nothing runs in another machine's. Refused if this daemon does not have it, or something has begun
 * in it. It is loaded there when it is asked for.
 */
export function moveStatement(
  wsId: string,
  { to, from }: { to: string | null; from: Pick<Store, 'machine'> },
): Statement {
  const loaded = sql<0 | 1 | 2>`case when loaded = 1 then 2 else loaded end`;
  const move = build
    .updateTable('workstreams')
    .set({ machine: to, loaded })
    .where('ws_id', '=', wsId)
    .where('loaded', '!=', DELETED)
    .where(hostedBy(from))
    .where(
      sql<boolean>`not exists (select 1 from runs where runs.ws_id = workstreams.ws_id and runs.status in ('queued', 'running'))`,
    )
    .where(
      sql<boolean>`not exists (select 1 from watches where watches.ws_id = workstreams.ws_id and (watches.active = 1 or watches.is_polling = 1))`,
    );
  return statementOf(move, 1);
}

/** Whether somebody writes in this workstream from a chat, which only the active daemon has. */
export async function isInChat({ db }: Pick<Store, 'db'>, wsId: string): Promise<boolean> {
  const chats = db.selectFrom('channel_chats').select('ws_id').where('ws_id', '=', wsId).limit(1);
  return (await chats.executeTakeFirst()) !== undefined;
}

/** Whether watches of this workstream are polled. */
export async function isWatched({ db }: Pick<Store, 'db'>, wsId: string): Promise<boolean> {
  const active = db.selectFrom('watches').select('watch_id').where('ws_id', '=', wsId);
  const row = await active
    .where((where) => where.or([where('active', '=', 1), where('is_polling', '=', 1)]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
