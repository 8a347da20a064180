import { type ChatMessage, plainName } from '../../chats/chat-message.ts';
import type { WhatsAppMessage } from '../webhook-batch.ts';

/** A message of a person as every chat service has it. Commands are words at its beginning, because WhatsApp marks none. */
export function toChatMessage({ messageId, senderId, senderName, text, forwarded }: WhatsAppMessage): ChatMessage {
  const name = plainName(senderName);
  const [, command, argument = ''] = /^\/([a-z]{1,32})(?:\s+(.*))?$/is.exec(text.trim()) ?? [];
  return {
    chat: senderId,
    chatId: senderId,
    chatKind: 'dm',
    chatTitle: name,
    sessionKey: `whatsapp:${senderId}`,
    senderId,
    senderName: name,
    messageId,
    text: text.trim(),
    foreign:
      forwarded === undefined || forwarded === '' ? [] : [{ kind: 'forwarded', from: 'somebody', text: forwarded }],
    isForBot: true,
    command: command === undefined ? undefined : { name: command.toLowerCase(), argument },
  };
}
