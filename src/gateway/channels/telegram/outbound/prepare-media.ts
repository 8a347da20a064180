import type { Store } from '../../../store/store.ts';
import { loadMedia, type Media, type MediaDeps } from '../../calls/load-media.ts';
import type { Delivery } from '../../channel.ts';
import { isEnded, type RenderedChunk, readChunks } from '../../ledger/chunk-rows.ts';
import type { SendChunk } from '../../ledger/send-parts.ts';
import type { Bot } from '../bots.ts';
import { addressOf, sendText } from '../send-text.ts';
import { render } from './render.ts';
import { MAX_FILE_BYTES, sendFile } from './send-file.ts';

interface MediaPrepareDeps extends MediaDeps {
  bot: Bot;
  store: Pick<Store, 'db'>;
  signal: AbortSignal;
}

/** UTF-16 units, without mark-up. */
const MAX_CAPTION = 1_024;

/** How a message with a file is sent. If the file cannot be loaded, its address is sent with the text. */
export async function prepareMedia(
  { messageId, message, to }: Delivery,
  mediaUrl: string,
  deps: MediaPrepareDeps,
): Promise<{ render(): RenderedChunk[]; send: SendChunk }> {
  const { bot, store, signal } = deps;
  const stored = await readChunks(store, messageId);
  const waits = stored.length === 0 || stored.some((chunk) => chunk.media_url !== null && !isEnded(chunk));
  const media = waits ? await loadMedia(mediaUrl, { maxBytes: MAX_FILE_BYTES, signal }, deps) : SENT;
  signal.throwIfAborted(); // an end of the daemon is no failure of the file
  const address = addressOf(to);
  return {
    render: () =>
      media.kind === 'loaded' ? withCaption(message, mediaUrl) : render(withAddress(message, mediaUrl, media)),
    send(chunk) {
      if (chunk.mediaUrl === undefined) return sendText(chunk, bot, address);
      if (media.kind === 'loaded') return sendFile({ caption: chunk, file: media }, bot, address);
      const [text = chunk] = render(withAddress(chunk.plain, mediaUrl, media)); // it could be loaded before
      return sendText(text, bot, address);
    },
  };
}

const SENT: Media = { kind: 'failed', why: 'it was sent before' };

/** The file with the text as its caption; a longer text follows. */
function withCaption(message: string, mediaUrl: string): RenderedChunk[] {
  const texts = render(message);
  const [first] = texts;
  const isCaption = texts.length === 1 && first !== undefined && first.plain.length <= MAX_CAPTION;
  return isCaption ? [{ ...first, mediaUrl }] : [{ formatted: '', plain: '', mediaUrl }, ...texts];
}

const withAddress = (message: string, mediaUrl: string, media: Media): string => {
  const note = media.kind === 'failed' ? `(I could not load the file: ${media.why})` : '';
  return [message, mediaUrl, note].filter((part) => part !== '').join('\n\n');
};
