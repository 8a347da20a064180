import type { Clock } from '../../../clock.ts';
import type { ChannelMetrics } from '../../metrics/channel-metrics.ts';
import type { Store } from '../../store/store.ts';
import type { MediaDeps } from '../calls/load-media.ts';
import type { ServiceError } from '../calls/service-error.ts';
import { type Channel, type Delivery, DeliveryError } from '../channel.ts';
import type { SenderUsers } from '../chats/acting-sender.ts';
import { readCard } from '../chats/approval-card.ts';
import type { AmbiguousPolicy } from '../chats/chat-settings.ts';
import { findChat } from '../inbox/find-chat.ts';
import type { RenderedChunk } from '../ledger/chunk-rows.ts';
import { type SendChunk, sendParts } from '../ledger/send-parts.ts';
import type { Bot } from './bots.ts';
import type { PreviewGate } from './preview/preview-gate.ts';
import { addressOf, editText, sendText } from './send-text.ts';
import type { TelegramSettings } from './telegram-settings.ts';
import { BotApiError } from './wire/bot-api-error.ts';

interface TelegramChannelDeps {
  bot(): Bot | undefined;
  settings(): TelegramSettings | undefined;
  /** For files that are sent. Refuses private addresses. */
  fetchMedia: MediaDeps['fetch'];
  users: SenderUsers;
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now' | 'sleep'>;
  metrics: Pick<ChannelMetrics, 'channelPart'>;
  /** The previews of answers, which the answers replace. */
  previews: PreviewGate;
}

/** Sends messages to chats at Telegram. Their names are the numbers of chats, or their session keys. */
export const createTelegramChannel = ({
  bot,
  settings,
  fetchMedia,
  users,
  store,
  clock,
  metrics,
  previews: gate,
}: TelegramChannelDeps): Channel => ({
  name: 'telegram',
  get destinations() {
    return settings() === undefined ? [] : undefined;
  },
  async trustIn(senderId, chat) {
    const { trustIn } = await import('../../loaded/loaded-services.ts');
    return trustIn({ channel: 'telegram', senderId, chat }, { settings: settings(), store, users });
  },
  async find(to, viewer) {
    const chat = toChat(to);
    return chat && findChat({ channel: 'telegram', chat }, viewer, store);
  },
  async deliver(delivery, { signal }) {
    const current = bot();
    if (!current) throw new DeliveryError('telegram is not configured', { retryable: true });
    signal.throwIfAborted();
    const { ambiguous } = current.settings;
    const { replacedPreview } = await import('../../loaded/loaded-services.ts');
    const replaces = await replacedPreview(delivery, { bot: current, gate, store, clock });
    const prepared = await prepare(delivery, { bot: current, store, fetch: fetchMedia, clock, signal });
    const sent = { channel: 'telegram', delivery, ambiguous, replaces, movedTo, signal, ...prepared };
    return sendParts(sent, { store, clock, metrics });
  },
});

const NAME = /^(?:telegram:(?:dm|group):)?(-?\d{1,20})(?::(?:topic:)?(\d{1,20}))?$/;

function toChat(to: string): string | undefined {
  const [, id, topic] = NAME.exec(to) ?? [];
  return id === undefined || topic === undefined ? id : `${id}:${topic}`;
}

/** A group that became a supergroup has another id. */
const movedTo = (error: ServiceError): string | undefined =>
  error instanceof BotApiError && error.migrateToChatId !== undefined ? String(error.migrateToChatId) : undefined;

/** How a message is sent: as text, with a file, as a question with buttons, or as the decision in place of its question. */
async function prepare(
  delivery: Delivery,
  deps: MediaDeps & { bot: Bot; store: Pick<Store, 'db'>; signal: AbortSignal },
): Promise<{ render(): RenderedChunk[]; send: SendChunk; mayTell: boolean; ambiguous?: AmbiguousPolicy }> {
  const { prepareMedia, renderForTelegram: render } = await import('../../loaded/loaded-services.ts');
  const { bot, store } = deps;
  const { mediaUrl } = delivery;
  if (mediaUrl !== undefined) return { ...(await prepareMedia(delivery, mediaUrl, deps)), mayTell: true };
  const card = await readCard(delivery, store);
  const to = addressOf(delivery.to);
  if (card === undefined)
    return { render: () => render(delivery.message), send: (chunk) => sendText(chunk, bot, to), mayTell: true };
  if (card === 'none') return { render: () => [], send: async () => '', mayTell: false };
  // A question has one message, which the decision replaces.
  const toChunks = () => render(card.text).slice(0, 1);
  if (card.kind === 'decision') {
    const target = { chatId: to.chat_id, messageId: Number(card.messageId) };
    // A repeated edit changes nothing.
    return { render: toChunks, send: (chunk) => editText(chunk, bot, target), mayTell: false, ambiguous: 'retry' };
  }
  const buttons = card.buttons.map(({ title, data }) => ({ text: title, callback_data: data }));
  const keyboard = buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: [buttons] } };
  return { render: toChunks, send: (chunk) => sendText(chunk, bot, { ...to, ...keyboard }), mayTell: false };
}
