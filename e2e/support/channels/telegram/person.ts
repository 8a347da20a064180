import type { Chat, Message, MessageEntity, MessageOrigin, Update, User } from '@grammyjs/types';
import { type ChatRoom, type SeenMessage, toReplied } from './chat-room.ts';
import { type SentFile, type StoredFiles, toMedia } from './stored-files.ts';

/** Where the person is. */
interface World {
  readonly files: StoredFiles;
  nowSecs(): number;
  nextNumber(): number;
  room(id: number): ChatRoom;
  privateChatOf(user: User): ChatRoom;
  deliver(content: Omit<Update, 'update_id'>): void;
  isForBot(message: Message): boolean;
  answerTo(id: string): Promise<PressAnswer>;
  block(room: ChatRoom): void;
}

interface SayOptions {
  /** Default: the private chat with the bot. */
  in?: ChatRoom;
  topicId?: number;
  replyTo?: Message | SeenMessage;
  /** The quoted part of the message that is replied to. */
  quote?: string;
  /** Makes it a forwarded message: from a user, or from someone who hides the account, by name. */
  forwardedFrom?: User | string;
  mediaGroupId?: string;
}

/** What the person sees after pressing a button. */
export interface PressAnswer {
  text: string | undefined;
  isAlert: boolean;
}

/** Somebody who uses Telegram. */
export class Person {
  readonly user: User;
  readonly #world: World;

  constructor(user: User, world: World) {
    this.user = user;
    this.#world = world;
  }

  get id(): number {
    return this.user.id;
  }

  /** The private chat with the bot. */
  get chat(): ChatRoom {
    return this.#world.privateChatOf(this.user);
  }

  says(text: string, options: SayOptions = {}): Message {
    return this.#post({ text, ...toEntities('entities', text) }, options);
  }

  sends(file: SentFile, options: SayOptions = {}): Message {
    const { caption } = file;
    const captioned = caption === undefined ? {} : { caption, ...toEntities('caption_entities', caption) };
    return this.#post({ ...toMedia(file, this.#world.files.add(file)), ...captioned }, options);
  }

  /** Several files as one message; Telegram sends an update for each. */
  sendsAlbum(files: readonly SentFile[], options: SayOptions = {}): Message[] {
    const mediaGroupId = `album-${this.#world.nextNumber()}`;
    return files.map((file) => this.sends(file, { ...options, mediaGroupId }));
  }

  edits(message: Message, text: string): void {
    const room = this.#world.room(message.chat.id);
    const edited = { ...message, text, ...toEntities('entities', text), edit_date: this.#world.nowSecs() };
    room.messages.set(message.message_id, edited);
    this.#world.deliver({ edited_message: { ...edited, chat: notChannel(room.chat), from: this.user } });
  }

  /** Presses a button of the newest message that has it. Resolves with the answer of the bot. */
  async presses(label: string, options: { in?: ChatRoom; message?: SeenMessage } = {}): Promise<PressAnswer> {
    const room = options.in ?? this.chat;
    const candidates = options.message ? [options.message] : room.sent.toReversed();
    const message = candidates.find(({ buttons }) => buttons.some(({ text }) => text === label));
    const data = message?.buttons.find(({ text }) => text === label)?.data;
    if (!message || data === undefined) throw new Error(`There is no button ${label} in ${room.describe()}.`);
    return this.pressesData(data, { room, messageId: message.messageId });
  }

  /** Presses a button with this data, also one that is gone or that the bot never made. */
  async pressesData(data: string, { room, messageId }: { room: ChatRoom; messageId: number }): Promise<PressAnswer> {
    const id = `press-${this.#world.nextNumber()}`;
    const message = room.messages.get(messageId);
    this.#world.deliver({
      callback_query: { id, from: this.user, chat_instance: `${room.id}`, data, ...(message && { message }) },
    });
    return this.#world.answerTo(id);
  }

  reacts(message: SeenMessage, emoji: '👍' | '👎' | '❤', room: ChatRoom = this.chat): void {
    this.#world.deliver({
      message_reaction: {
        chat: room.chat,
        message_id: message.messageId,
        user: this.user,
        date: this.#world.nowSecs(),
        old_reaction: [],
        new_reaction: [{ type: 'emoji', emoji }],
      },
    });
  }

  /** The bot can no longer write to this person. */
  blocks(): void {
    this.#world.block(this.chat);
  }

  #post(content: Partial<Message>, options: SayOptions): Message {
    const room = options.in ?? this.chat;
    const message: Message = {
      message_id: room.nextId(),
      date: this.#world.nowSecs(),
      chat: room.chat,
      from: this.user,
      ...(options.topicId !== undefined && { message_thread_id: options.topicId, is_topic_message: true }),
      ...(options.mediaGroupId !== undefined && { media_group_id: options.mediaGroupId }),
      ...(options.forwardedFrom !== undefined && { forward_origin: this.#originOf(options.forwardedFrom) }),
      ...this.#replyIn(room, options),
      ...content,
    };
    room.messages.set(message.message_id, message);
    if (!room.isPrivacyMode || this.#world.isForBot(message))
      this.#world.deliver({ message: { ...message, chat: notChannel(room.chat), from: this.user } });
    return message;
  }

  #originOf(from: User | string): MessageOrigin {
    const date = this.#world.nowSecs();
    if (typeof from === 'string') return { type: 'hidden_user', date, sender_user_name: from };
    return { type: 'user', date, sender_user: from };
  }

  #replyIn(room: ChatRoom, { replyTo, quote }: SayOptions): Partial<Message> {
    if (!replyTo) return {};
    const replied = room.messages.get('messageId' in replyTo ? replyTo.messageId : replyTo.message_id);
    if (!replied) throw new Error('That message is not in this chat.');
    const position = quote === undefined ? 0 : (replied.text ?? replied.caption ?? '').indexOf(quote);
    return {
      reply_to_message: toReplied(replied),
      ...(quote !== undefined && { quote: { text: quote, position, is_manual: true } }),
    };
  }
}

/** Commands and mentions, which clients find. */
function toEntities(field: 'entities' | 'caption_entities', text: string): Partial<Message> {
  const found = [...text.matchAll(/(?<=^|\s)(?:(\/\w+(?:@\w+)?)|(@\w+))/g)];
  const entities: MessageEntity[] = found.map(({ index, 0: all, 1: command }) => ({
    type: command === undefined ? 'mention' : 'bot_command',
    offset: index,
    length: all.length,
  }));
  return entities.length === 0 ? {} : { [field]: entities };
}

/** The bot is in no channel. */
export function notChannel(chat: Chat): Exclude<Chat, Chat.ChannelChat> {
  if (chat.type === 'channel') throw new Error('Channels are not played.');
  return chat;
}
