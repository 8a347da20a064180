import type { Receipt } from '../../../store/schema/channels/channel-schema.ts';
import type { Statement, Store } from '../../../store/store.ts';
import { ServiceError } from '../../calls/service-error.ts';
import { dropUpdate, type InboxRow } from '../../inbox/inbox-rows.ts';
import type { DeliveryStatus } from '../webhook-batch.ts';

/** They come in any order: a later one is never replaced by an earlier one. */
const RANKS: Readonly<Record<Receipt, number>> = { sent: 1, delivered: 2, read: 3, failed: 4 };

/** What WhatsApp reported of a part that it had accepted. */
function noteReceipt({ messageId, status, error }: DeliveryStatus): Statement {
  const lower = Object.entries(RANKS).flatMap(([receipt, rank]) => (rank < RANKS[status] ? receipt : []));
  const places = lower.map(() => '?').join(', ');
  return {
    sql: `UPDATE channel_chunks SET receipt = ?, reason = coalesce(?, reason)
          WHERE channel = 'whatsapp' AND provider_id = ? AND (receipt IS NULL OR receipt IN (${places}))`,
    parameters: [status, error ? `${error.message} (${error.code})` : null, messageId, ...lower],
  };
}

/** Whether the part is known, so that the receipt can be noted. */
async function isKnownPart({ db }: Pick<Store, 'db'>, messageId: string): Promise<boolean> {
  const found = await db
    .selectFrom('channel_chunks')
    .select('chunk')
    .where('channel', '=', 'whatsapp')
    .where('provider_id', '=', messageId)
    .executeTakeFirst();
  return found !== undefined;
}

/** Whether a request to this person is on its way, whose answer may name the part. */
async function isSending({ db }: Pick<Store, 'db'>, to: string): Promise<boolean> {
  const found = await db
    .selectFrom('channel_chunks')
    .select('chunk')
    .where('channel', '=', 'whatsapp')
    .where('destination', '=', to)
    .where('state', '=', 'sending')
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Ends a stored status. Throws while the answer that names its part is on its way: it is handled again, for longer than a
 * request may take.
 */
export async function noteStatus(
  row: InboxRow,
  status: DeliveryStatus,
  store: Pick<Store, 'db' | 'commit'>,
): Promise<void> {
  const isKnown = await isKnownPart(store, status.messageId);
  if (!isKnown && (await isSending(store, status.to)))
    throw new ServiceError('ambiguous', 'the answer that names the message is on its way');
  await store.commit({ statements: [...(isKnown ? [noteReceipt(status)] : []), dropUpdate(row)] });
}
