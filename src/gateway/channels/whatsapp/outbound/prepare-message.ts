import type { Clock } from '../../../../clock.ts';
import type { Store } from '../../../store/store.ts';
import type { MediaDeps } from '../../calls/load-media.ts';
import type { Delivery } from '../../channel.ts';
import { type Button, readCard } from '../../chats/approval-card.ts';
import { readChat } from '../../inbox/chat-rows.ts';
import { hasWritten } from '../../inbox/inbox-rows.ts';
import type { RenderedChunk } from '../../ledger/chunk-rows.ts';
import type { SendChunk } from '../../ledger/send-parts.ts';
import { GraphError } from '../graph-error.ts';
import type { WhatsAppNumber } from '../numbers.ts';
import type { OutgoingMessage } from '../outgoing.ts';
import { render, toParameter } from './render-text.ts';
import { prepareMedia } from './upload-media.ts';

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

interface PrepareDeps extends MediaDeps {
  store: Pick<Store, 'db'>;
  clock: Pick<Clock, 'now' | 'sleep'>;
  signal: AbortSignal;
}

/** How a message is sent: as text, with a file, as a question with buttons, as an answer to its question, or as a template. */
export async function prepareMessage(
  delivery: Delivery,
  { api, settings }: WhatsAppNumber,
  { fetch, store, clock, signal }: PrepareDeps,
): Promise<Prepared> {
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
    const media = await prepareMedia(delivery, delivery.mediaUrl, { api, store, signal, fetch, clock });
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

/** Commands, buttons and refused messages open the window, too; in the chat, only messages of the conversation are noted. */
async function isWindowOpen(chat: string, { store, clock }: Pick<PrepareDeps, 'store' | 'clock'>): Promise<boolean> {
  const closedMs = clock.now() - (WINDOW_MS - SLACK_MS);
  const known = await readChat(store, { channel: 'whatsapp', chat });
  if (known?.last_in_ms != null && known.last_in_ms > closedMs) return true;
  return hasWritten(store, { channel: 'whatsapp', senderId: chat, sinceMs: closedMs });
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
