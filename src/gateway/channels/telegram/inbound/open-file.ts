import type { OpenedFile } from '../../calls/opened-file.ts';
import type { ChatFile } from '../../chats/chat-message.ts';
import type { Bot } from '../bots.ts';
import { BotApiError } from '../wire/bot-api-error.ts';

interface OpenDeps {
  bot(): Bot | undefined;
  maxBytes: number;
  signal: AbortSignal;
}

/** For an answer, and for each piece of the file. */
const TIMEOUT_MS = 60_000;

/** Begins to download a file that somebody sent. Throws BotApiError. */
export async function openFile({ id }: ChatFile, { bot, maxBytes, signal }: OpenDeps): Promise<OpenedFile> {
  const current = bot();
  if (!current) throw new BotApiError('unauthorized', 'There is no bot.');
  const limits = { signal, timeoutMs: TIMEOUT_MS };
  const { file_path: path, file_size: size } = await current.api.call('getFile', { file_id: id }, limits).catch(asFile);
  if (path === undefined || (size ?? 0) > maxBytes)
    throw new BotApiError('too-large', `The file has more than ${maxBytes} bytes.`);
  return current.api.openFile(path, { maxBytes, ...limits });
}

/** What Telegram says of a file above 20 MB. */
function asFile(error: unknown): never {
  if (error instanceof BotApiError && /file is too big/i.test(error.description ?? ''))
    throw new BotApiError('too-large', error.message);
  throw error;
}
