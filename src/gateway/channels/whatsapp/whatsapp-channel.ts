import { warn } from '../../../../protocol/notice.ts';
import type { Clock } from '../../../clock.ts';
import type { ChannelMetrics } from '../../metrics/channel-metrics.ts';
import type { Store } from '../../store/store.ts';
import type { MediaDeps } from '../calls/load-media.ts';
import { type Channel, type Delivery, DeliveryError } from '../channel.ts';
import { type Button, readCard } from '../chats/approval-card.ts';
import { trustIn } from '../chats/trust-in.ts';
import { readChat } from '../inbox/chat-rows.ts';
import { findChat } from '../inbox/find-chat.ts';
import type { RenderedChunk } from '../ledger/chunk-rows.ts';
import { type SendChunk, sendParts } from '../ledger/send-parts.ts';
import { GraphError } from './graph-error.ts';
import type { WhatsAppNumber } from './numbers.ts';
import type { OutgoingMessage } from './outgoing.ts';
import type { WhatsAppSettings } from './whatsapp-settings.ts';

interface WhatsAppChannelDeps {
  number(): WhatsAppNumber | undefined;
  settings(): WhatsAppSettings | undefined;
  /** For files that are sent. Refuses private addresses. */
  fetchMedia: MediaDeps['fetch'];
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now' | 'sleep'>;
  metrics: Pick<ChannelMetrics, 'channelPart'>;
}

/** Sends messages to people at WhatsApp. Their names are telephone numbers, or their session keys. */
export const createWhatsAppChannel = ({
  number,
  settings,
  fetchMedia: fetch,
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
  trustIn: (senderId) => trustIn({ channel: 'whatsapp', senderId }, { settings: settings(), store }),
  async find(to, viewer) {
    const [, chat] = NAME.exec(to) ?? [];
    return chat && findChat({ channel: 'whatsapp', chat }, viewer, store);
  },
  async deliver(delivery, { signal }) {
    const current = number();
    if (!current) throw new DeliveryError('whatsapp is not configured', { retryable: true });
    signal.throwIfAborted();
    const { ambiguous } = current.settings;
    const { render, send, mayTell } = await prepare(delivery, current, { fetch, store, clock, signal });
    const sent = { channel: 'whatsapp', delivery, ambiguous, render, send, mayTell };
    await sendParts(sent, { store, clock, metrics });
    return 'taken';
  },
});

const NO_TEMPLATE = warn(
  'template_missing',
  'WhatsApp accepts messages for 24 hours after the last message of the person. Later ones fail, because channels.whatsapp.template names no approved template.',
);

const NAME = /^(?:whatsapp:)?\+?(\d{1,20})$/;

/** Not ended by the daemon's stop: nobody would know whether the message arrived. */
const LIMITS = { signal: new AbortController().signal, timeoutMs: 30_000 };
/** After a message of the person, free texts may be sent for this long. */
const WINDOW_MS = 24 * 3_600_000;
/** A message that is sent at the end of the window arrives after it. */
const SLACK_MS = 60_000;

interface Prepared {
  render(): RenderedChunk[];
  send: SendChunk;
  /** See `sendParts`. */
  mayTell: boolean;
}

type PrepareDeps = Pick<WhatsAppChannelDeps, 'store' | 'clock'> & MediaDeps & { signal: AbortSignal };

/** How a message is sent: as text, with a file, as a question with buttons, as an answer to its question, or as a template. */
async function prepare(
  delivery: Delivery,
  { api, settings }: WhatsAppNumber,
  { fetch, store, clock, signal }: PrepareDeps,
): Promise<Prepared> {
  const { renderForWhatsApp: render, prepareWhatsAppMedia, toParameter } = await import('../loaded-services.ts');
  const { template } = settings;
  const card = await readCard(delivery, store);
  if (card === 'none') return { render: () => [], send: async () => '', mayTell: false };
  const post = (message: OutgoingMessage & { replyTo?: string }) => api.send(delivery.to, message, LIMITS);
  const asTemplate = ({ plain, mediaUrl }: RenderedChunk) =>
    template
      ? post({ type: 'template', ...template, parameters: [toParameter(withAddress(plain, mediaUrl))] })
      : undefined;
  if (template && !(await isWindowOpen(delivery.to, { store, clock }))) {
    const line = toParameter(withAddress(delivery.message, delivery.mediaUrl));
    return {
      render: () => (line === '' ? [] : [{ formatted: line, plain: line }]),
      send: async (chunk) => (await asTemplate(chunk)) ?? '',
      mayTell: false,
    };
  }
  const send = async (chunk: RenderedChunk, message: OutgoingMessage & { replyTo?: string }) => {
    try {
      return await post(message);
    } catch (error) {
      // The window has closed just now.
      const other = error instanceof GraphError && error.needsTemplate ? await asTemplate(chunk) : undefined;
      if (other === undefined) throw error;
      return other;
    }
  };
  if (card?.kind === 'question' && card.buttons.length > 0) return withButtons(card, { render, send });
  if (delivery.mediaUrl !== undefined) {
    const media = await prepareWhatsAppMedia(delivery, delivery.mediaUrl, { api, store, signal, fetch, clock });
    return { render: media.render, send: (chunk) => send(chunk, media.toMessage(chunk)), mayTell: false };
  }
  const replyTo = card?.kind === 'decision' ? { replyTo: card.messageId } : {};
  return {
    render: () => render(delivery.message),
    send: (chunk) => send(chunk, { type: 'text', text: chunk.formatted, ...replyTo }),
    mayTell: card === undefined,
  };
}

/** Templates and their parameters are texts, so a file is named by its address. */
const withAddress = (message: string, mediaUrl: string | undefined): string =>
  mediaUrl === undefined ? message : `${message}\n\n${mediaUrl}`;

async function isWindowOpen(
  chat: string,
  { store, clock }: Pick<WhatsAppChannelDeps, 'store' | 'clock'>,
): Promise<boolean> {
  const known = await readChat(store, { channel: 'whatsapp', chat });
  return known?.last_in_ms != null && clock.now() - known.last_in_ms < WINDOW_MS - SLACK_MS;
}

/** Long questions come as texts, and a short message with the buttons follows them. */
function withButtons(
  { text, buttons }: { text: string; buttons: readonly Button[] },
  {
    render,
    send,
  }: {
    render(markdown: string): RenderedChunk[];
    send(chunk: RenderedChunk, message: OutgoingMessage): Promise<string>;
  },
): Prepared {
  const toSend = buttons.map(({ title, data }) => ({ id: data, title }));
  return {
    render() {
      const chunks = render(text);
      const [only] = chunks;
      return chunks.length === 1 && only && only.formatted.length <= MAX_BUTTON_TEXT ? chunks : [...chunks, DECIDE];
    },
    mayTell: false,
    send: (chunk, { isLast }) =>
      send(
        chunk,
        isLast ? { type: 'buttons', text: chunk.formatted, buttons: toSend } : { type: 'text', text: chunk.formatted },
      ),
  };
}

/** Characters of a message with buttons. */
const MAX_BUTTON_TEXT = 1_024;
const DECIDE: RenderedChunk = { formatted: 'Your decision:', plain: 'Your decision:' };
