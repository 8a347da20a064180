import { warn } from '../../../../protocol/notice.ts';
import type { Clock } from '../../../clock.ts';
import type { ChannelMetrics } from '../../metrics/channel-metrics.ts';
import type { Store } from '../../store/store.ts';
import type { MediaDeps } from '../calls/load-media.ts';
import { type Channel, DeliveryError } from '../channel.ts';
import type { SenderUsers } from '../chats/acting-sender.ts';
import { findChat } from '../inbox/find-chat.ts';
import { sendParts } from '../ledger/send-parts.ts';
import type { WhatsAppNumber } from './numbers.ts';
import type { WhatsAppSettings } from './whatsapp-settings.ts';

interface WhatsAppChannelDeps {
  number(): WhatsAppNumber | undefined;
  settings(): WhatsAppSettings | undefined;
  /** For files that are sent. Refuses private addresses. */
  fetchMedia: MediaDeps['fetch'];
  users: SenderUsers;
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now' | 'sleep'>;
  metrics: Pick<ChannelMetrics, 'channelPart'>;
}

/** Sends messages to people at WhatsApp. Their names are telephone numbers, or their session keys. */
export const createWhatsAppChannel = ({
  number,
  settings,
  fetchMedia: fetch,
  users,
  store,
  clock,
  metrics,
}: WhatsAppChannelDeps): Channel => ({
  name: 'whatsapp',
  get destinations() {
    return settings() === undefined ? [] : undefined;
  },
  get notice() {
    const current = settings();
    return current === undefined || current.template !== undefined ? undefined : NO_TEMPLATE;
  },
  async trustIn(senderId, chat) {
    const { trustIn } = await import('../../loaded/loaded-services.ts');
    return trustIn({ channel: 'whatsapp', senderId, chat }, { settings: settings(), store, users });
  },
  async find(to, viewer) {
    const [, chat] = NAME.exec(to) ?? [];
    return chat && findChat({ channel: 'whatsapp', chat }, viewer, store);
  },
  async deliver(delivery, { signal }) {
    const current = number();
    if (!current) throw new DeliveryError('whatsapp is not configured', { retryable: true });
    signal.throwIfAborted();
    const { ambiguous } = current.settings;
    const { prepareMessage } = await import('../../loaded/loaded-services.ts');
    const { render, send, mayTell } = await prepareMessage(delivery, current, { fetch, store, clock, signal });
    const sent = { channel: 'whatsapp', delivery, ambiguous, render, send, mayTell, signal };
    return sendParts(sent, { store, clock, metrics });
  },
});

const NO_TEMPLATE = warn(
  'template_missing',
  'WhatsApp accepts messages for 24 hours after the last message of the person. Later ones fail, because channels.whatsapp.template names no approved template.',
);

const NAME = /^(?:whatsapp:)?\+?(\d{1,20})$/;
