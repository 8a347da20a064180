import type { Clock } from '../../../../clock.ts';
import type { Store } from '../../../store/store.ts';
import { runAnsweredBy } from '../../answer-delivery.ts';
import type { Delivery } from '../../channel.ts';
import { forgetPreview, leavePreview, readPreview } from '../../ledger/preview-rows.ts';
import type { Replaced } from '../../ledger/send-parts.ts';
import type { Bot } from '../bots.ts';
import { addressOf, editText } from '../send-text.ts';
import type { PreviewGate } from './preview-gate.ts';

interface ReplacedDeps {
  bot: Bot;
  gate: PreviewGate;
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
}

/** The preview whose place an answer takes; undefined if there is none whose id is known. Ends the preview. */
export async function replacedPreview(
  { messageId, to }: Pick<Delivery, 'messageId' | 'to'>,
  { bot, gate, store, clock }: ReplacedDeps,
): Promise<Replaced | undefined> {
  const runId = runAnsweredBy(messageId);
  if (runId === undefined) return undefined;
  await gate.close(runId);
  const shown = await readPreview(store, runId);
  if (shown?.state === 'sending') await store.commit({ statements: [leavePreview(runId, clock.now())] });
  if (shown?.state !== 'accepted') return undefined;
  const target = { chatId: addressOf(to).chat_id, messageId: Number(shown.provider_id) };
  return { edit: (chunk) => editText(chunk, bot, target), forget: () => forgetPreview(runId) };
}
