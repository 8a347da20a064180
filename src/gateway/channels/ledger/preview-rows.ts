import type { ChunkTable } from '../../store/schema/channels/channel-schema.ts';
import { build, statementOf } from '../../store/statements.ts';
import type { Statement, Store } from '../../store/store.ts';

/*
 * The message that shows an answer in progress is a part in the ledger, too, until the answer takes its place.
 */

/** Its message in the ledger; there is none in the outbox. */
const nameOf = (runId: string): string => `preview:${runId}`;

export const readPreview = ({ db }: Pick<Store, 'db'>, runId: string): Promise<ChunkTable | undefined> =>
  db.selectFrom('channel_chunks').selectAll().where('message_id', '=', nameOf(runId)).executeTakeFirst();

/** It is about to be sent. */
export const insertPreview = (runId: string, to: { channel: string; chat: string }, nowMs: number): Statement =>
  statementOf(
    build.insertInto('channel_chunks').values({
      message_id: nameOf(runId),
      chunk: 0,
      channel: to.channel,
      destination: to.chat,
      formatted: null,
      plain: null,
      media_url: null,
      state: 'sending',
      provider_id: null,
      receipt: null,
      reason: null,
      updated_ms: nowMs,
    }),
    1,
  );

/** Nothing was sent, or the answer has taken its place. */
export const forgetPreview = (runId: string): Statement =>
  statementOf(build.deleteFrom('channel_chunks').where('message_id', '=', nameOf(runId)));

/** Its request was written, and nobody waits for the answer any more. Nothing is lost by it: the answer is sent whole. */
export const leavePreview = (runId: string, nowMs: number): Statement =>
  statementOf(
    build
      .updateTable('channel_chunks')
      .set({ state: 'ambiguous', reason: 'the daemon was stopped', updated_ms: nowMs })
      .where('message_id', '=', nameOf(runId))
      .where('state', '=', 'sending'),
  );
