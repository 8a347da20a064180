import { z } from 'zod';
import type { Environment } from '../../../environment.ts';
import { AMBIGUOUS_POLICIES, DM_POLICIES } from '../../../gateway/channels/chats/chat-settings.ts';
import { TELEGRAM_API_ROOT, type TelegramSettings } from '../../../gateway/channels/telegram/telegram-settings.ts';

const BOT_TOKEN = /^\d{1,20}:[A-Za-z0-9_-]{20,100}$/;

/** The id of a person, or of a group: names can change hands, so they are refused. */
const idOf = (pattern: RegExp, what: string) =>
  z
    .union([z.int(), z.string()])
    .transform(String)
    .refine((id) => pattern.test(id), `must be ${what}`);

const PersonId = idOf(/^[1-9]\d{0,19}$/, 'the number of a person, such as 123456789; usernames can change hands');
const AllowedId = idOf(/^(?:\*|[1-9]\d{0,19})$/, 'the number of a person, or "*" for everybody');
const GROUP_ID = /^-[1-9]\d{0,19}$/;

const GroupConfig = z.object({
  allowFrom: z
    .array(AllowedId)
    .max(1_000)
    .default([])
    .describe('Who may write to the bot in this group: numbers of people, or "*" for everybody.'),
  requireMention: z
    .boolean()
    .default(true)
    .describe('Whether the bot only reads messages that mention it, reply to it or are commands for it.'),
});

const Settings = z.object({
  botToken: z
    .string()
    .regex(BOT_TOKEN, 'must be a token from @BotFather, such as 123456:ABC…')
    .optional()
    .describe('The token of the bot, from @BotFather.'),
  botTokenEnv: z.string().min(1).max(256).optional().describe('The environment variable that holds the token.'),
  dmPolicy: z
    .enum(DM_POLICIES)
    .default('pairing')
    .describe(
      'Who may write in a direct chat: people who were approved with a code, only those in allowFrom, everybody, or nobody.',
    ),
  allowFrom: z
    .array(AllowedId)
    .max(1_000)
    .default([])
    .describe('People who may write in a direct chat without a code. The policy open needs "*".'),
  approvers: z
    .array(PersonId)
    .max(100)
    .default([])
    .describe('People who may decide about tool calls with the buttons. They must be allowed to write, too.'),
  groups: z
    .record(z.string().regex(GROUP_ID, 'must be the number of a group, such as -1001234567890'), GroupConfig)
    .default({})
    .describe('The groups in which the bot reads messages, by number.'),
  session: z
    .enum(['chat', 'main'])
    .default('chat')
    .describe('Whether each direct chat has a workstream, or all of them use the main session.'),
  ambiguous: z
    .enum(AMBIGUOUS_POLICIES)
    .default('once')
    .describe('A message that may have arrived: it is not sent again and the chat is told, or it is sent again.'),
  alertMinutes: z
    .int()
    .min(1)
    .max(10_080)
    .default(5)
    .describe('After so many minutes without a connection to Telegram, health reports it.'),
  apiRoot: z
    .url({ protocol: /^https?$/ })
    .default(TELEGRAM_API_ROOT)
    .describe('The address of the Bot API, if you run a server of your own.'),
});

/** A bot at Telegram. */
export const TelegramConfig = Settings.superRefine(
  ({ botToken, botTokenEnv, dmPolicy, allowFrom, groups }, { addIssue }) => {
    const refuse = (key: string, message: string) => addIssue({ code: 'custom', path: [key], message });
    if ((botToken === undefined) === (botTokenEnv === undefined))
      refuse('botToken', 'needs either botToken or botTokenEnv');
    const isForAll = allowFrom.includes('*');
    if (dmPolicy === 'open' && !isForAll)
      refuse('allowFrom', 'must contain "*" with dmPolicy open: everybody may then write');
    if (dmPolicy !== 'open' && isForAll) refuse('allowFrom', '"*" needs dmPolicy open');
    for (const [id, { allowFrom: members }] of Object.entries(groups))
      if (members.length === 0) refuse(`groups.${id}.allowFrom`, 'names nobody; add numbers of people, or "*"');
  },
);
export type TelegramConfig = z.infer<typeof TelegramConfig>;

/** The settings as they are used. */
export const telegramSettingsOf = (config: TelegramConfig, environment: Environment): TelegramSettings => ({
  token: config.botToken ?? environment[config.botTokenEnv ?? ''] ?? '',
  apiRoot: config.apiRoot.replace(/\/+$/, ''),
  dmPolicy: config.dmPolicy,
  allowFrom: new Set(config.allowFrom),
  approvers: new Set(config.approvers),
  groups: new Map(
    Object.entries(config.groups).map(([id, group]) => [id, { ...group, allowFrom: new Set(group.allowFrom) }]),
  ),
  session: config.session,
  ambiguous: config.ambiguous,
  alertMs: config.alertMinutes * 60_000,
});
