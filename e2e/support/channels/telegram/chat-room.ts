import type { Chat, InlineKeyboardMarkup, Message, MessageEntity, User } from '@grammyjs/types';
import { BotFailure, badRequest } from './bot-failure.ts';
import type { Changes } from './changes.ts';

/** A button under a message. */
interface SeenButton {
  text: string;
  data?: string;
  url?: string;
}

/** A message of the bot, as people see it. */
export interface SeenMessage {
  messageId: number;
  /** The topic, in forums. */
  topicId: number | undefined;
  /** The text, or the caption of a file. */
  text: string;
  entities: MessageEntity[];
  /** Whether it was sent with a parse mode. */
  isFormatted: boolean;
  buttons: SeenButton[];
  file: { kind: string; fileName: string; mimeType: string; bytes: Buffer } | { kind: string; url: string } | undefined;
  replyTo: number | undefined;
  /** How often it was edited. */
  edits: number;
  isDeleted: boolean;
  reactions: string[];
}

/** A chat with the bot in it. */
export class ChatRoom {
  chat: Chat;
  /** Everything that was said, by id. */
  readonly messages = new Map<number, Message>();
  /** What the bot sent, also if it was deleted since. */
  readonly everSent: SeenMessage[] = [];
  /** Chat actions such as `typing`, with the topic. */
  readonly actions: { action: string; topicId: number | undefined; atMs: number }[] = [];
  /** Reactions of the bot, by message id. */
  readonly reactions = new Map<number, string[]>();
  /** Why the bot may not write; undefined: it may. */
  closed: BotFailure | undefined;
  readonly topics = new Set<number>();
  /** In privacy mode, the bot sees only what is meant for it. */
  readonly isPrivacyMode: boolean;
  #taken = 0;
  #lastId = 0;
  readonly #changes: Changes;

  constructor(chat: Chat, { changes, isPrivacyMode = false }: { changes: Changes; isPrivacyMode?: boolean }) {
    this.chat = chat;
    this.#changes = changes;
    this.isPrivacyMode = isPrivacyMode;
  }

  get id(): number {
    return this.chat.id;
  }

  /** What people see of the bot's messages now. */
  get sent(): SeenMessage[] {
    return this.everSent.filter(({ isDeleted }) => !isDeleted);
  }

  get texts(): string[] {
    return this.sent.map(({ text }) => text);
  }

  nextId(): number {
    return ++this.#lastId;
  }

  /** The next message of the bot that was not returned before. */
  next(): Promise<SeenMessage> {
    const index = this.#taken++;
    return this.#changes.until(
      () => this.everSent[index],
      () => `message ${index + 1} in ${this.describe()}`,
    );
  }

  /** Resolves with the first message for which this is true, now or after a change. */
  until(matches: (message: SeenMessage) => boolean): Promise<SeenMessage> {
    return this.#changes.until(
      () => this.sent.find(matches),
      () => `such a message in ${this.describe()}`,
    );
  }

  /** Resolves once this is true of the chat. */
  async untilTrue(holds: (room: ChatRoom) => boolean): Promise<void> {
    await this.#changes.until(
      () => holds(this) || undefined,
      () => `the condition in ${this.describe()}`,
    );
  }

  describe(): string {
    return `chat ${this.id}, where the bot said ${JSON.stringify(this.texts)}`;
  }

  /** Throws if the bot may not write here. */
  requireOpen(topicId: number | undefined): void {
    if (this.closed) throw this.closed;
    if (topicId !== undefined && !this.topics.has(topicId)) throw badRequest('message thread not found');
  }

  /** A message of the bot that still exists. */
  ofBot(messageId: number | undefined, purpose: string): SeenMessage {
    const found = this.sent.find((message) => message.messageId === messageId);
    if (!found) throw badRequest(`message to ${purpose} not found`);
    return found;
  }
}

/** Buttons of a `reply_markup`. */
export function toButtons(markup: unknown): SeenButton[] {
  if (!isKeyboard(markup)) return [];
  return markup.inline_keyboard.flat().map((button) => {
    const { text, callback_data: data, url } = { callback_data: undefined, url: undefined, ...button };
    if (typeof text !== 'string' || text === '') throw badRequest('inline keyboard button text is empty');
    if (data !== undefined) return { text, data: requireData(data) };
    if (url !== undefined) return { text, url };
    throw badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard");
  });
}

function requireData(data: string): string {
  if (data === '' || Buffer.byteLength(data) > 64) throw badRequest('BUTTON_DATA_INVALID');
  return data;
}

const isKeyboard = (markup: unknown): markup is InlineKeyboardMarkup =>
  typeof markup === 'object' && markup !== null && Array.isArray(Reflect.get(markup, 'inline_keyboard'));

/** A member of chats. */
export const toUser = (id: number, name: string, username?: string): User => ({
  id,
  is_bot: false,
  first_name: name,
  language_code: 'en',
  ...(username !== undefined && { username }),
});

/** Group chats that became supergroups refuse with the new id. */
export const migratedTo = (chatId: number): BotFailure =>
  new BotFailure(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id: chatId });

/** A message as part of its reply. Its own reply is left out; the published type asks for it as undefined. */
export function toReplied(message: Message): NonNullable<Message['reply_to_message']> {
  const { reply_to_message: _, ...replied } = message;
  return replied as NonNullable<Message['reply_to_message']>;
}
