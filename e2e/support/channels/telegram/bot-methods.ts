import type { BotCommand } from '@grammyjs/types';
import { badRequest } from './bot-failure.ts';
import type { Params } from './params.ts';
import type { SendLimits } from './send-limits.ts';
import { createSendMethods } from './send-methods.ts';
import type { TelegramWorld } from './telegram-world.ts';

/** A method of the Bot API. Throws BotFailure. */
export type PlayedMethod = (params: Params, gone: AbortSignal) => unknown;

interface MethodDeps {
  world: TelegramWorld;
  limits: SendLimits;
  nowMs(): number;
}

const ACTIONS = new Set([
  'typing',
  'upload_photo',
  'record_voice',
  'upload_voice',
  'upload_document',
  'choose_sticker',
]);

/** The methods that are played, by their names in lower case. */
export function createMethods({ world, limits, nowMs }: MethodDeps): Map<string, PlayedMethod> {
  const { updates } = world;
  const methods: Record<string, PlayedMethod> = {
    ...createSendMethods({ world, limits }),
    getme: () => world.bot,
    getupdates: (params, gone) => updates.poll(params, gone),
    setwebhook: (params) => updates.setWebhook(params),
    deletewebhook: (params) => updates.deleteWebhook(params),
    getwebhookinfo: () => updates.webhookInfo(),
    getfile: (params) => world.files.describe(params.text('file_id')),
    sendchataction(params) {
      const room = world.room(params.integer('chat_id'));
      const topicId = params.integer('message_thread_id');
      room.requireOpen(topicId);
      const action = params.text('action') ?? '';
      if (!ACTIONS.has(action)) throw badRequest('wrong parameter action in request');
      room.actions.push({ action, topicId, atMs: nowMs() });
      world.changes.notify();
      return true;
    },
    setmessagereaction(params) {
      const room = world.room(params.integer('chat_id'));
      const messageId = params.integer('message_id') ?? 0;
      if (!room.messages.has(messageId)) throw badRequest('message to react not found');
      const emojis = toList(params.json('reaction')).map((reaction) => String(Reflect.get(Object(reaction), 'emoji')));
      if (emojis.some((emoji) => !REACTIONS.has(emoji))) throw badRequest('REACTION_INVALID');
      room.reactions.set(messageId, emojis);
      world.changes.notify();
      return true;
    },
    answercallbackquery(params) {
      const answer = { text: params.text('text'), isAlert: params.flag('show_alert') };
      if ((answer.text?.length ?? 0) > 200) throw badRequest('MESSAGE_TOO_LONG');
      world.answer(params.text('callback_query_id'), answer);
      return true;
    },
    setmycommands(params) {
      const commands = toList(params.json('commands')).filter(isCommand);
      if (commands.length > 100) throw badRequest('BOT_COMMANDS_TOO_MUCH');
      if (commands.some(({ command }) => !/^[a-z0-9_]{1,32}$/.test(command))) throw badRequest('BOT_COMMAND_INVALID');
      if (commands.some(({ description }) => description.length < 1 || description.length > 256))
        throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID');
      world.commands = commands;
      world.changes.notify();
      return true;
    },
    getmycommands: () => world.commands,
  };
  return new Map(Object.entries(methods));
}

/** Some of the reactions that bots may use. */
const REACTIONS = new Set(['👍', '👎', '❤', '🔥', '👀', '🎉', '🤔', '⚡', '✍', '🫡', '👌', '🙏', '💯']);

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isCommand = (value: unknown): value is BotCommand =>
  typeof Reflect.get(Object(value), 'command') === 'string' &&
  typeof Reflect.get(Object(value), 'description') === 'string';
