import type { ChunkState, ChunkTable } from '../../store/schema/channels/channel-schema.ts';
import { build, statementOf } from '../../store/statements.ts';
import type { Statement, Store } from '../../store/store.ts';

/** A part of a message, in both forms. */
export interface RenderedChunk {
  /** In the format of the service. */
  formatted: string;
  /** If the service does not accept the format. */
  plain: string;
  /** The file that is sent with the text, as its caption. */
  mediaUrl?: string | undefined;
}

export const readChunks = ({ db }: Pick<Store, 'db'>, messageId: string): Promise<ChunkTable[]> =>
  db.selectFrom('channel_chunks').selectAll().where('message_id', '=', messageId).orderBy('chunk').execute();

/** The parts of a message that was not sent before; they stay the same when it is sent again. */
export const insertChunks = (
  message: { messageId: string; channel: string; to: string },
  chunks: readonly RenderedChunk[],
  nowMs: number,
): Statement[] =>
  chunks.map(({ formatted, plain, mediaUrl = null }, chunk) =>
    statementOf(
      build.insertInto('channel_chunks').values({
        message_id: message.messageId,
        chunk,
        channel: message.channel,
        destination: message.to,
        formatted,
        plain,
        media_url: mediaUrl,
        state: 'unsent',
        provider_id: null,
        receipt: null,
        reason: null,
        updated_ms: nowMs,
      }),
      1,
    ),
  );

/** What is known of a part now. */
export interface ChunkNews {
  state: ChunkState;
  /** Required for `accepted`, and absent otherwise: nothing counts as sent without it. */
  providerId?: string;
  reason?: string;
  /** Where it is sent: the chat may have another id than when the part was made. */
  to?: string;
}

const ENDED: readonly ChunkState[] = ['accepted', 'ambiguous', 'failed'];

export const isEnded = ({ state }: Pick<ChunkTable, 'state'>): boolean => ENDED.includes(state);

/** Refused for a part that has ended. The texts of a part that has ended are not needed any more. */
export const updateChunk = (
  { message_id, chunk }: Pick<ChunkTable, 'message_id' | 'chunk'>,
  { state, providerId, reason, to }: ChunkNews,
  nowMs: number,
): Statement =>
  statementOf(
    build
      .updateTable('channel_chunks')
      .set({
        state,
        provider_id: providerId ?? null,
        reason: reason?.slice(0, 300) ?? null,
        updated_ms: nowMs,
        ...(to !== undefined && { destination: to }),
        ...(isEnded({ state }) && { formatted: null, plain: null }),
      })
      .where('message_id', '=', message_id)
      .where('chunk', '=', chunk)
      .where('state', 'in', ['unsent', 'sending']),
    1,
  );

/** The latest parts, newest first. */
export const readLatestChunks = ({ db }: Pick<Store, 'db'>, { limit }: { limit: number }): Promise<ChunkTable[]> =>
  db.selectFrom('channel_chunks').selectAll().orderBy('updated_ms', 'desc').limit(limit).execute();
