import type { BotCommand, Chat, Message, Update, User, UserFromGetMe } from '@grammyjs/types';
import type { Clock } from '../../../../src/clock.ts';
import { BotFailure, badRequest } from './bot-failure.ts';
import { Changes } from './changes.ts';
import { ChatRoom, migratedTo, toUser } from './chat-room.ts';
import { notChannel, Person, type PressAnswer } from './person.ts';
import { StoredFiles } from './stored-files.ts';
import { UpdateQueue } from './update-queue.ts';

interface GroupOptions {
  title?: string;
  type?: 'group' | 'supergroup';
  isForum?: boolean;
  /** The bot sees only what is meant for it. Default: it sees everything, as an administrator does. */
  isPrivacyMode?: boolean;
}

/** What a bot's Telegram consists of: its chats, the people in them, their files, and the updates. */
export class TelegramWorld {
  readonly bot: UserFromGetMe;
  readonly changes = new Changes();
  readonly files = new StoredFiles();
  readonly updates: UpdateQueue;
  commands: BotCommand[] = [];
  readonly #clock: Clock;
  readonly #rooms = new Map<number, ChatRoom>();
  readonly #answers = new Map<string, PressAnswer>();
  readonly #pressed = new Set<string>();
  #number = 0;

  constructor({ clock, botId, username }: { clock: Clock; botId: number; username: string }) {
    this.#clock = clock;
    this.updates = new UpdateQueue(clock, () => this.changes.notify());
    this.bot = { id: botId, is_bot: true, first_name: 'Headgate', username, ...RIGHTS };
  }

  nowSecs(): number {
    return Math.floor(this.#clock.now() / 1000);
  }

  nextNumber(): number {
    return ++this.#number;
  }

  /** Somebody new. Ids are above 2^32, as new accounts have. */
  person({ name = 'Ada', username, id }: { name?: string; username?: string; id?: number } = {}): Person {
    return new Person(toUser(id ?? 7_000_000_000 + this.nextNumber(), name, username), this);
  }

  group({ title = 'Group', type = 'supergroup', isForum = false, isPrivacyMode = false }: GroupOptions = {}): ChatRoom {
    const number = this.nextNumber();
    const chat: Chat =
      type === 'group'
        ? { id: -4_000_000 - number, type, title }
        : { id: -1_001_000_000_000 - number, type, title, ...(isForum && { is_forum: true as const }) };
    return this.#open(chat, isPrivacyMode);
  }

  /** A new topic of a forum. Returns its id. */
  topic(room: ChatRoom): number {
    const id = room.nextId();
    room.topics.add(id);
    return id;
  }

  /** The group becomes a supergroup: its id changes, and both chats report it. */
  migrate(group: ChatRoom, by: Person): ChatRoom {
    const title = group.chat.type === 'group' ? group.chat.title : 'Group';
    const supergroup = this.group({ title, isPrivacyMode: group.isPrivacyMode });
    group.closed = migratedTo(supergroup.id);
    const service = (room: ChatRoom) => ({ message_id: room.nextId(), date: this.nowSecs(), from: by.user });
    const chats = [notChannel(group.chat), notChannel(supergroup.chat)] as const;
    this.deliver({ message: { ...service(group), chat: chats[0], migrate_to_chat_id: supergroup.id } });
    this.deliver({ message: { ...service(supergroup), chat: chats[1], migrate_from_chat_id: group.id } });
    return supergroup;
  }

  /** The bot may no longer write here. */
  block(room: ChatRoom): void {
    const reason = room.chat.type === 'private' ? 'bot was blocked by the user' : 'bot was kicked from the group chat';
    room.closed = new BotFailure(403, `Forbidden: ${reason}`);
  }

  privateChatOf({ id, first_name, username }: User): ChatRoom {
    const chat = { id, type: 'private' as const, first_name, ...(username !== undefined && { username }) };
    return this.#rooms.get(id) ?? this.#open(chat, false);
  }

  /** Throws as Telegram does if there is no such chat. */
  room(id: number | undefined): ChatRoom {
    const room = this.#rooms.get(id ?? 0);
    if (!room) throw badRequest('chat not found');
    return room;
  }

  get rooms(): ChatRoom[] {
    return [...this.#rooms.values()];
  }

  deliver(content: Omit<Update, 'update_id'>): void {
    if (content.callback_query) this.#pressed.add(content.callback_query.id);
    this.updates.add(content);
    this.changes.notify();
  }

  /** Whether a bot in privacy mode sees the message. */
  isForBot(message: Message): boolean {
    const text = message.text ?? message.caption ?? '';
    const name = `@${this.bot.username}`.toLowerCase();
    const isReply = message.reply_to_message?.from?.id === this.bot.id;
    return isReply || text.startsWith('/') || text.toLowerCase().includes(name);
  }

  answer(id: string | undefined, answer: PressAnswer): void {
    if (id === undefined || !this.#pressed.has(id))
      throw badRequest('query is too old and response timeout expired or query ID is invalid');
    this.#answers.set(id, answer);
    this.changes.notify();
  }

  answerTo(id: string): Promise<PressAnswer> {
    return this.changes.until(
      () => this.#answers.get(id),
      () => `an answer to ${id}`,
    );
  }

  #open(chat: Chat, isPrivacyMode: boolean): ChatRoom {
    const room = new ChatRoom(chat, { changes: this.changes, isPrivacyMode });
    this.#rooms.set(chat.id, room);
    return room;
  }
}

const RIGHTS = {
  can_join_groups: true,
  can_read_all_group_messages: true,
  supports_inline_queries: false,
  can_connect_to_business: false,
  has_main_web_app: false,
  has_topics_enabled: false,
  allows_users_to_create_topics: false,
  can_manage_bots: false,
  supports_join_request_queries: false,
};
