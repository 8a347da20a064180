import type { Opts } from '@grammyjs/types';
import type { CallLimits } from '../calls/call-wait.ts';
import type { Upload } from '../calls/form-body.ts';
import type { RenderedChunk } from '../ledger/chunk-rows.ts';
import type { Bot } from './bots.ts';
import { BotApiError } from './wire/bot-api-error.ts';

/** The chat of a destination, as Telegram is told it. */
export interface Address {
  chat_id: number;
  message_thread_id?: number;
}

export function addressOf(to: string): Address {
  const [chat, topic] = to.split(':').map(Number);
  return { chat_id: chat ?? 0, ...(topic !== undefined && { message_thread_id: topic }) };
}

export type Target = Omit<Opts<Upload>['sendMessage'], 'text'>;

const NEVER = new AbortController().signal;
/** Not ended by the daemon's stop: nobody would know whether the message arrived. */
export const LIMITS = { signal: NEVER, timeoutMs: 30_000 };
const PLAIN_LINKS = { link_preview_options: { is_disabled: true } };

type Through = Pick<Bot, 'api'> & { limits?: CallLimits };

/** Returns the id of the message. Throws BotApiError. */
export const sendText = (chunk: RenderedChunk, { api, limits = LIMITS }: Through, to: Target): Promise<string> =>
  asAccepted(chunk, async (text) => {
    const sent = await api.call('sendMessage', { ...to, ...PLAIN_LINKS, ...text }, limits);
    return String(sent.message_id);
  });

/** Replaces the text of a message, and takes away its buttons. */
export const editText = (
  chunk: RenderedChunk,
  { api, limits = LIMITS }: Through,
  { chatId, messageId }: { chatId: number; messageId: number },
): Promise<string> =>
  asAccepted(chunk, async (text) => {
    const params = { chat_id: chatId, message_id: messageId, ...PLAIN_LINKS, ...text };
    await api.call('editMessageText', params, limits).catch(orUnchanged);
    return String(messageId);
  });

type Text = { text: string; parse_mode?: 'HTML' };

/** Without format if Telegram does not accept the format: nothing is sent then, so nothing is sent twice. */
export async function asAccepted(
  { formatted, plain }: RenderedChunk,
  send: (text: Text) => Promise<string>,
): Promise<string> {
  try {
    return await send({ text: formatted, parse_mode: 'HTML' });
  } catch (error) {
    if (!isMalformed(error)) throw error;
    return send({ text: plain });
  }
}

const isMalformed = (error: unknown): boolean =>
  error instanceof BotApiError && error.kind === 'rejected' && /can't parse entities/i.test(error.description ?? '');

/** An edit that was made before has nothing left to change. */
function orUnchanged(error: unknown): void {
  if (error instanceof BotApiError && /message is not modified/i.test(error.description ?? '')) return;
  throw error;
}
