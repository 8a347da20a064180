import { Upload } from '../../calls/form-body.ts';
import type { Media } from '../../calls/load-media.ts';
import type { RenderedChunk } from '../../ledger/chunk-rows.ts';
import type { Bot } from '../bots.ts';
import { type Address, asAccepted, LIMITS } from '../send-text.ts';
import { BotApiError } from '../wire/bot-api-error.ts';

/** Telegram takes images up to this size as photos, and files up to that size. */
const MAX_PHOTO_BYTES = 10 * 1024 * 1024;
export const MAX_FILE_BYTES = 50 * 1024 * 1024;
/** Telegram shows an animation only as a file. */
const PHOTO_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp']);

/** Sends a file with its caption. Returns the id of the message. Throws BotApiError. */
export function sendFile(
  { caption, file }: { caption: RenderedChunk; file: Media & { kind: 'loaded' } },
  { api }: Pick<Bot, 'api'>,
  to: Address,
): Promise<string> {
  const upload = new Upload(file);
  const isPhoto = PHOTO_TYPES.has(file.contentType) && file.bytes.length <= MAX_PHOTO_BYTES;
  return asAccepted(caption, async ({ text, ...format }) => {
    const params = { ...to, ...(text !== '' && { caption: text, ...format }) };
    const asDocument = () => api.call('sendDocument', { ...params, document: upload }, LIMITS);
    const asPhoto = () => api.call('sendPhoto', { ...params, photo: upload }, LIMITS);
    const sent = await (isPhoto ? asPhoto().catch(orAs(asDocument)) : asDocument());
    return String(sent.message_id);
  });
}

/** Telegram shows some images not as photos, such as very long ones. It has sent nothing then. */
const orAs =
  <T>(asDocument: () => Promise<T>) =>
  (error: unknown): Promise<T> => {
    const isAboutPhoto = error instanceof BotApiError && /PHOTO_|IMAGE_PROCESS/.test(error.description ?? '');
    if (error instanceof BotApiError && error.kind === 'rejected' && isAboutPhoto) return asDocument();
    throw error;
  };
