import { type ChatFile, type ChatMessage, plainName } from '../../chats/chat-message.ts';
import type { WhatsAppMessage } from '../webhook-batch.ts';

/** A message of a person as every chat service has it. Commands are words at its beginning, because WhatsApp marks none. */
export function toChatMessage(said: WhatsAppMessage): ChatMessage {
  const { messageId, senderId, senderName, text, forwarded, media, unreadable } = said;
  const name = plainName(senderName);
  const [, command, argument = ''] = /^\/([a-z]{1,32})(?:\s+(\S.*)?)?$/is.exec(text.trim()) ?? [];
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
    foreign: forwarded === undefined ? [] : [{ kind: 'forwarded', from: 'somebody', text: forwarded || FILE_ONLY }],
    files: filesOf(media),
    unreadable,
    isForBot: true,
    command: command === undefined ? undefined : { name: command.toLowerCase(), argument },
  };
}

/** In place of the words of a forwarded file. */
const FILE_ONLY = '(the attached file)';

const USUAL_NAMES: Readonly<Record<string, string>> = { audio: 'voice.ogg', video: 'video.mp4' };

function filesOf(media: WhatsAppMessage['media']): ChatFile[] {
  if (media === undefined) return [];
  const kind: ChatFile['kind'] = media.kind === 'audio' ? 'speech' : 'file';
  const fileName = media.fileName ?? USUAL_NAMES[media.kind];
  const isOwnVoice = media.isVoice;
  return [{ id: media.id, kind, fileName, size: undefined, seconds: undefined, ...(isOwnVoice && { isOwnVoice }) }];
}
