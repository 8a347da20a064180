import type { Message, MessageEntity } from '@grammyjs/types';
import { badRequest } from './bot-failure.ts';
import { type ChatRoom, type SeenMessage, toButtons, toReplied } from './chat-room.ts';
import { Params } from './params.ts';
import { EntityError, type ParsedText, parseHtml } from './parse-html.ts';
import type { SendLimits } from './send-limits.ts';
import { type SentFile, toMedia } from './stored-files.ts';
import type { TelegramWorld } from './telegram-world.ts';

/** The most UTF-16 units of a text and of a caption, after parsing. */
const MAX_TEXT = 4_096;
const MAX_CAPTION = 1_024;

interface SendDeps {
  world: TelegramWorld;
  limits: SendLimits;
}

/** Methods that make or change messages. */
export function createSendMethods({ world, limits }: SendDeps) {
  const place = (params: Params) => {
    const room = world.room(params.integer('chat_id'));
    const topicId = params.integer('message_thread_id');
    room.requireOpen(topicId);
    return { room, topicId };
  };
  const post = (
    params: Params,
    content: { text: ParsedText; media?: Partial<Message>; file?: SeenMessage['file'] },
  ) => {
    const { room, topicId } = place(params);
    const replyTo = readReply(params, room);
    const buttons = toButtons(params.json('reply_markup'));
    limits.count(room.id);
    const seen: SeenMessage = {
      ...{ messageId: room.nextId(), topicId, replyTo, buttons },
      ...{ text: content.text.text, entities: content.text.entities, file: content.file },
      ...{ isFormatted: params.text('parse_mode') !== undefined, edits: 0, isDeleted: false, reactions: [] },
    };
    room.everSent.push(seen);
    const message = toMessage(world, { room, seen, media: content.media });
    world.changes.notify();
    return message;
  };
  const sendFile = (kind: SentFile['kind']) => (params: Params) => {
    place(params); // before the file is looked at, as Telegram does
    const text = readFormatted(params, 'caption');
    if (text.text.length > MAX_CAPTION) throw badRequest('message caption is too long');
    const file = readFile(params, { world, kind });
    const stored: SentFile = 'bytes' in file ? { ...file, kind } : { kind, bytes: new Uint8Array() };
    return post(params, { text, media: toMedia(stored, world.files.add(stored)), file });
  };
  return {
    sendmessage: (params: Params) => {
      place(params);
      return post(params, { text: readText(params) });
    },
    sendphoto: sendFile('photo'),
    senddocument: sendFile('document'),
    sendvoice: sendFile('voice'),
    editmessagetext: (params: Params) => {
      const { room } = place(params);
      const seen = room.ofBot(params.integer('message_id'), 'edit');
      const { text, entities } = readText(params);
      limits.countEdit(room.id);
      return edit(world, { room, seen, change: { text, entities, buttons: toButtons(params.json('reply_markup')) } });
    },
    editmessagereplymarkup: (params: Params) => {
      const { room } = place(params);
      const seen = room.ofBot(params.integer('message_id'), 'edit');
      return edit(world, { room, seen, change: { buttons: toButtons(params.json('reply_markup')) } });
    },
    deletemessage: (params: Params) => {
      const { room } = place(params);
      room.ofBot(params.integer('message_id'), 'delete').isDeleted = true;
      world.changes.notify();
      return true;
    },
  };
}

function edit(
  world: TelegramWorld,
  { room, seen, change }: { room: ChatRoom; seen: SeenMessage; change: Partial<SeenMessage> },
): Message {
  const looks = ({ text, entities, buttons }: SeenMessage) => JSON.stringify([text, entities, buttons]);
  if (looks(seen) === looks({ ...seen, ...change }))
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
  Object.assign(seen, change, { edits: seen.edits + 1 });
  world.changes.notify();
  return toMessage(world, { room, seen, media: undefined });
}

/** Stores and returns a message of the bot. */
function toMessage(
  world: TelegramWorld,
  { room, seen, media }: { room: ChatRoom; seen: SeenMessage; media: Partial<Message> | undefined },
): Message {
  const { text, entities, topicId, replyTo, messageId } = seen;
  const isText = seen.file === undefined;
  const replied = replyTo === undefined ? undefined : room.messages.get(replyTo);
  const message: Message = {
    message_id: messageId,
    date: world.nowSecs(),
    chat: room.chat,
    from: world.bot,
    ...media,
    ...(topicId !== undefined && { message_thread_id: topicId, is_topic_message: true }),
    ...(replied && { reply_to_message: toReplied(replied) }),
    ...(isText ? { text } : text !== '' && { caption: text }),
    ...(entities.length > 0 && (isText ? { entities } : { caption_entities: entities })),
  };
  room.messages.set(messageId, message);
  return message;
}

function readFile(
  params: Params,
  { world, kind }: { world: TelegramWorld; kind: SentFile['kind'] },
): NonNullable<SeenMessage['file']> {
  const given = params.file(kind);
  if (given === undefined || given === '') throw badRequest(`there is no ${kind} in the request`);
  if (typeof given !== 'string')
    return { kind, fileName: given.fileName, mimeType: given.contentType, bytes: given.bytes };
  if (!/^https?:/.test(given) && !world.files.has(given)) throw badRequest('wrong remote file identifier specified');
  return { kind, url: given };
}

function readText(params: Params): ParsedText {
  if ((params.text('text') ?? '') === '') throw badRequest('message text is empty');
  const parsed = readFormatted(params, 'text');
  if (parsed.text === '') throw badRequest('text must be non-empty');
  if (parsed.text.length > MAX_TEXT) throw badRequest('message is too long');
  return parsed;
}

function readFormatted(params: Params, name: 'text' | 'caption'): ParsedText {
  const source = params.text(name) ?? '';
  if (!source.isWellFormed()) throw badRequest('strings must be encoded in UTF-8');
  const mode = params.text('parse_mode')?.toLowerCase() ?? '';
  const given = params.json(name === 'text' ? 'entities' : 'caption_entities');
  if (mode === '') return { text: source.trimEnd(), entities: isEntities(given) ? given : [] };
  if (mode !== 'html') throw badRequest('unsupported parse_mode');
  try {
    return parseHtml(source);
  } catch (error) {
    if (error instanceof EntityError) throw badRequest(`can't parse entities: ${error.message}`);
    throw error;
  }
}

const isEntities = (value: unknown): value is MessageEntity[] => Array.isArray(value);

function readReply(params: Params, room: ChatRoom): number | undefined {
  const given = params.json('reply_parameters');
  const reply = new Params(typeof given === 'object' && given !== null ? { ...given } : {});
  const messageId = reply.integer('message_id') ?? params.integer('reply_to_message_id');
  if (messageId === undefined) return undefined;
  const isThere = room.messages.has(messageId) && !room.everSent.some((m) => m.messageId === messageId && m.isDeleted);
  if (isThere) return messageId;
  if (reply.flag('allow_sending_without_reply') || params.flag('allow_sending_without_reply')) return undefined;
  throw badRequest('message to be replied not found');
}
