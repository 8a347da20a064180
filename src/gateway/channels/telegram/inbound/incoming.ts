import type { Chat, Message, MessageEntity, MessageOrigin, Update, User } from '@grammyjs/types';
import { type ChatMessage, type ForeignText, plainName } from '../../chats/chat-message.ts';
import { contentOf } from './message-content.ts';

/** What a bot knows of itself. */
export interface BotIdentity {
  id: number;
  username: string;
}

/** Where an update belongs; both are empty if it belongs nowhere. */
export function placeOf(update: Update): { chat: string; senderId: string } {
  const { callback_query: callback } = update;
  if (callback) return { chat: '', senderId: String(callback.from.id) };
  const { message } = update;
  return message ? { chat: chatOf(message), senderId: senderOf(message).id } : { chat: '', senderId: '' };
}

/** The new id of a group that became a supergroup. */
export function migrationIn({ message }: Update): { from: string; to: string } | undefined {
  if (!message) return undefined;
  if ('migrate_to_chat_id' in message && message.migrate_to_chat_id !== undefined)
    return { from: String(message.chat.id), to: String(message.migrate_to_chat_id) };
  if ('migrate_from_chat_id' in message && message.migrate_from_chat_id !== undefined)
    return { from: String(message.migrate_from_chat_id), to: String(message.chat.id) };
  return undefined;
}

/** The message of an update; undefined if it says nothing that Headgate reads, or another bot wrote it. */
export function toIncoming({ message }: Update, bot: BotIdentity): ChatMessage | undefined {
  if (!message || message.from?.is_bot === true) return undefined;
  const { chat } = message;
  const { text, entities } = wordsOf(message);
  const { files, unreadable } = contentOf(message);
  if (text === '' && files.length === 0 && unreadable === undefined) return undefined;
  const isDirect = chat.type === 'private';
  const command = commandIn(text, entities, bot);
  const foreign = foreignIn(message, bot);
  const own = foreign !== undefined ? '' : withoutMention(text, bot);
  const { id: senderId, name: senderName } = senderOf(message);
  const chatKind = isDirect ? 'dm' : 'group';
  return {
    chat: chatOf(message),
    chatId: String(chat.id),
    chatKind,
    chatTitle: titleOf(chat, senderName),
    sessionKey: sessionKeyOf(chatOf(message), chatKind),
    senderId,
    senderName,
    messageId: String(message.message_id),
    text: own,
    foreign: [
      ...(foreign === undefined ? [] : [{ kind: 'forwarded' as const, from: foreign, text: text || FILE_ONLY }]),
      ...quotedIn(message, bot),
    ],
    files,
    unreadable,
    isForBot: isDirect || isMentioned({ text, entities }, bot) || isReplyTo(message, bot) || command?.isNamed === true,
    // The command of somebody else is not the sender's.
    command:
      foreign !== undefined || command === undefined ? undefined : { name: command.name, argument: command.argument },
  };
}

/** Whose words a message has, if they are not the sender's: it was forwarded, or another bot wrote it for the sender. */
function foreignIn({ forward_origin: origin, via_bot: by }: Message, bot: BotIdentity): string | undefined {
  if (origin) return nameOfOrigin(origin);
  return by && by.id !== bot.id ? nameOf(by) : undefined;
}

/** In place of the words of a forwarded file. */
const FILE_ONLY = '(the attached file)';

const nameOf = ({ first_name, last_name }: Pick<User, 'first_name' | 'last_name'>): string =>
  plainName([first_name, last_name].filter(Boolean).join(' '));

/** A message in the name of a chat has that chat's id, which no list of people contains. */
function senderOf({ from, sender_chat: asChat }: Message): { id: string; name: string } {
  if (asChat) return { id: String(asChat.id), name: plainName(asChat.title ?? '') };
  return from ? { id: String(from.id), name: nameOf(from) } : { id: '', name: 'unknown' };
}

const titleOf = (chat: Chat, senderName: string): string =>
  chat.type === 'private' ? senderName : plainName(chat.title ?? '');

const chatOf = ({ chat, is_topic_message: isInTopic, message_thread_id: topic }: Message): string =>
  isInTopic === true && topic !== undefined && chat.type !== 'private' ? `${chat.id}:${topic}` : String(chat.id);

/** The session key of a chat. */
function sessionKeyOf(name: string, kind: ChatMessage['chatKind']): string {
  const [id, topic] = name.split(':');
  return topic === undefined ? `telegram:${kind}:${id}` : `telegram:${kind}:${id}:topic:${topic}`;
}

interface Words {
  text: string;
  entities: readonly MessageEntity[];
}

function wordsOf(message: Message): Words {
  if (message.text !== undefined) return { text: message.text, entities: message.entities ?? [] };
  return { text: message.caption ?? '', entities: message.caption_entities ?? [] };
}

/** `isNamed`: it names the bot. Undefined also for a command that names another bot. */
function commandIn(text: string, entities: readonly MessageEntity[], bot: BotIdentity) {
  const first = entities.find(({ type, offset }) => type === 'bot_command' && offset === 0);
  if (!first) return undefined;
  const [name = '', to] = text.slice(1, first.length).split('@');
  if (to !== undefined && to.toLowerCase() !== bot.username.toLowerCase()) return undefined;
  return { name: name.toLowerCase(), argument: text.slice(first.length).trim(), isNamed: to !== undefined };
}

const isMentioned = ({ text, entities }: Words, { id, username }: BotIdentity): boolean =>
  entities.some((entity) => {
    if (entity.type === 'text_mention') return entity.user.id === id;
    if (entity.type !== 'mention') return false;
    return text.slice(entity.offset, entity.offset + entity.length).toLowerCase() === `@${username.toLowerCase()}`;
  });

const isReplyTo = ({ reply_to_message: reply }: Message, { id }: BotIdentity): boolean => reply?.from?.id === id;

function withoutMention(text: string, { username }: BotIdentity): string {
  const mention = `@${username}`;
  const rest = text.slice(mention.length);
  const isFirst = text.slice(0, mention.length).toLowerCase() === mention.toLowerCase();
  const isWhole = !/^\w/.test(rest); // not the beginning of another name
  return (isFirst && isWhole ? rest.replace(/^[\s,:]+/, '') : text).trim();
}

/** What the sender replies to, unless the sender or the bot wrote it. */
function quotedIn(message: Message, bot: BotIdentity): ForeignText[] {
  const { reply_to_message: reply, external_reply: external, quote, message_thread_id: topic } = message;
  if (external) return quote ? [{ kind: 'quoted', from: nameOfOrigin(external.origin), text: quote.text }] : [];
  if (!reply || reply.message_id === topic) return []; // in a topic, every message replies to its first one
  const author = senderOf(reply);
  const isOwn = reply.from?.id === bot.id || (author.id === senderOf(message).id && reply.forward_origin === undefined);
  const text = quote?.text ?? wordsOf(reply).text;
  if (text === '' || isOwn) return [];
  const from = reply.forward_origin ? nameOfOrigin(reply.forward_origin) : author.name;
  return [{ kind: 'quoted', from, text }];
}

function nameOfOrigin(origin: MessageOrigin): string {
  switch (origin.type) {
    case 'user':
      return nameOf(origin.sender_user);
    case 'hidden_user':
      return plainName(origin.sender_user_name);
    case 'chat':
      return plainName(origin.sender_chat.title ?? '');
    case 'channel':
      return plainName(origin.chat.title ?? '');
  }
}
