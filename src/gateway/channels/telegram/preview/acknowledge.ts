import type { Log } from '../../../../log.ts';
import type { ChatMessage } from '../../chats/chat-message.ts';
import type { Bot } from '../bots.ts';

const LIMITS = { signal: new AbortController().signal, timeoutMs: 10_000 };

/** Shows with a reaction that a message was read, if the settings want it. Nobody misses one that fails. */
export async function acknowledge(
  { chatId, messageId }: Pick<ChatMessage, 'chatId' | 'messageId'>,
  { bot, log }: { bot: Bot | undefined; log: Pick<Log, 'debug'> },
): Promise<void> {
  const emoji = bot?.settings.ackReaction;
  if (!bot || emoji === undefined) return;
  const reaction = [{ type: 'emoji' as const, emoji }];
  await bot.api
    .call('setMessageReaction', { chat_id: Number(chatId), message_id: Number(messageId), reaction }, LIMITS)
    .catch((err: unknown) => log.debug({ err }, 'a message at Telegram got no reaction'));
}
