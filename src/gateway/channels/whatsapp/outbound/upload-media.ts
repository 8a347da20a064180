import type { Store } from '../../../store/store.ts';
import { loadMedia, type MediaDeps } from '../../calls/load-media.ts';
import { ServiceError } from '../../calls/service-error.ts';
import { type Delivery, DeliveryError, NotNow } from '../../channel.ts';
import { isEnded, type RenderedChunk, readChunks } from '../../ledger/chunk-rows.ts';
import { GraphError } from '../graph-error.ts';
import type { WhatsAppNumber } from '../numbers.ts';
import type { OutgoingMessage } from '../outgoing.ts';
import { MAX_FILE_BYTES, mediaKindOf } from './media-kind.ts';
import { render } from './render-text.ts';

interface MediaPrepareDeps extends MediaDeps {
  api: WhatsAppNumber['api'];
  store: Pick<Store, 'db'>;
  signal: AbortSignal;
}

/** A file that WhatsApp has, or why it does not have it. */
type Uploaded = { kind: 'image' | 'video' | 'audio' | 'document'; id: string; fileName: string } | { why: string };

/** Characters. */
const MAX_CAPTION = 1_024;
/** Of an upload. WhatsApp answers when it has the whole file. */
const UPLOAD_MS = 120_000;

/**
 * How a message with a file is sent: the file is loaded and uploaded before the first part is recorded, because an upload
 * shows nobody anything and can be repeated. Of a file that cannot be sent, the part fails, and the text names its address.
 * Throws DeliveryError or NotNow.
 */
export async function prepareMedia(
  { messageId, message }: Pick<Delivery, 'messageId' | 'message'>,
  mediaUrl: string,
  deps: MediaPrepareDeps,
): Promise<{ render(): RenderedChunk[]; toMessage(chunk: RenderedChunk): OutgoingMessage }> {
  const stored = await readChunks(deps.store, messageId);
  const waits = stored.length === 0 || stored.some((chunk) => chunk.media_url !== null && !isEnded(chunk));
  const file: Uploaded = waits ? await upload(mediaUrl, deps) : { why: 'it was sent before' };
  return {
    render: () => partsOf(message, mediaUrl, file),
    toMessage(chunk) {
      if (chunk.mediaUrl === undefined) return { type: 'text', text: chunk.formatted };
      if ('id' in file) return toFileMessage(file, chunk.formatted);
      if (chunk.plain === '') throw new GraphError('rejected', `The file was not sent: ${file.why}.`);
      const [text = chunk] = render(withAddress(chunk.plain, mediaUrl)); // it could be uploaded before
      return { type: 'text', text: text.formatted };
    },
  };
}

async function upload(mediaUrl: string, { api, signal, fetch, clock }: MediaPrepareDeps): Promise<Uploaded> {
  const media = await loadMedia(mediaUrl, { maxBytes: MAX_FILE_BYTES, signal }, { fetch, clock });
  signal.throwIfAborted(); // an end of the daemon is no failure of the file
  if (media.kind === 'failed') return media;
  const found = mediaKindOf(media);
  if ('why' in found) return found;
  try {
    return {
      kind: found.kind,
      fileName: media.fileName,
      id: await api.upload(media, { signal, timeoutMs: UPLOAD_MS }),
    };
  } catch (error) {
    signal.throwIfAborted();
    return { why: whyRefused(error) };
  }
}

/** Throws where another attempt may help. */
function whyRefused(error: unknown): string {
  if (!(error instanceof ServiceError)) throw error;
  const { kind, message, retryAfterMs } = error;
  if (kind === 'rejected' || kind === 'too-large') return message.replace(/\.$/, '');
  if (kind === 'rate-limited') throw new NotNow(message, { againInMs: retryAfterMs ?? 1_000 });
  throw new DeliveryError(message, { retryable: true, cause: error });
}

/** The file with the text as its caption. A longer text follows, and so does every text of a recording. */
function partsOf(message: string, mediaUrl: string, file: Uploaded): RenderedChunk[] {
  const alone = { formatted: '', plain: '', mediaUrl };
  if (!('id' in file)) return [alone, ...render(withAddress(message, mediaUrl))];
  const texts = render(message);
  const [first] = texts;
  const isCaption = texts.length === 1 && first && first.formatted.length <= MAX_CAPTION && file.kind !== 'audio';
  return isCaption ? [{ ...first, mediaUrl }] : [alone, ...texts];
}

const withAddress = (message: string, mediaUrl: string): string =>
  [message, mediaUrl].filter((part) => part !== '').join('\n\n');

function toFileMessage({ kind, id, fileName }: Extract<Uploaded, { id: string }>, caption: string): OutgoingMessage {
  if (kind === 'audio') return { type: kind, media: { id } };
  return { type: kind, media: { id, fileName }, ...(caption !== '' && { caption }) };
}
