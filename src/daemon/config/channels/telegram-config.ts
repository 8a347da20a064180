import { z } from 'zod';
import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';
import type { Environment } from '../../../environment.ts';
import {
  ACK_REACTIONS,
  HOOK_PATH,
  TELEGRAM_API_ROOT,
  type TelegramSettings,
} from '../../../gateway/channels/telegram/telegram-settings.ts';
import { AllowedId, CHAT_FIELDS, chatSettingsOf, problemOfPolicy } from './chat-config.ts';

const BOT_TOKEN = /^\d{1,20}:[A-Za-z0-9_-]{20,100}$/;

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
  ...CHAT_FIELDS,
  groups: z
    .record(z.string().regex(GROUP_ID, 'must be the number of a group, such as -1001234567890'), GroupConfig)
    .default({})
    .describe('The groups in which the bot reads messages, by number.'),
  streaming: z
    .enum(['direct', 'all', 'off'])
    .default('direct')
    .describe(
      'Where an answer in progress is shown as a message that grows: in direct chats, also in groups, nowhere.',
    ),
  ackReaction: z
    .enum(ACK_REACTIONS)
    .optional()
    .describe('The reaction with which the bot shows that it has read a message. Default: none.'),
  mode: z
    .enum(['poll', 'webhook'])
    .default('poll')
    .describe('How messages come: the daemon asks Telegram for them, or Telegram calls the daemon at webhookUrl.'),
  webhookUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('With the mode webhook: the public address of Headgate, as in server.publicUrl.'),
  alertMinutes: z
    .int()
    .min(1)
    .max(10_080)
    .default(10)
    .describe('After so many minutes without an answer of Telegram, health and status report it.'),
  apiRoot: z
    .url({ protocol: /^https?$/ })
    .default(TELEGRAM_API_ROOT)
    .describe('The address of the Bot API, if you run a server of your own.'),
});

/** A bot at Telegram. */
export const TelegramConfig = Settings.superRefine(
  ({ botToken, botTokenEnv, dmPolicy, allowFrom, groups, mode, webhookUrl }, { addIssue }) => {
    const refuse = (key: string, message: string) => addIssue({ code: 'custom', path: [key], message });
    if ((botToken === undefined) === (botTokenEnv === undefined))
      refuse('botToken', 'needs either botToken or botTokenEnv');
    if ((mode === 'webhook') !== (webhookUrl !== undefined))
      refuse('webhookUrl', mode === 'webhook' ? 'the mode webhook needs it' : 'needs the mode webhook');
    const problem = problemOfPolicy({ dmPolicy, allowFrom });
    if (problem !== undefined) refuse('allowFrom', problem);
    for (const [id, { allowFrom: members }] of Object.entries(groups))
      if (members.length === 0) refuse(`groups.${id}.allowFrom`, 'names nobody; add numbers of people, or "*"');
  },
);
export type TelegramConfig = z.infer<typeof TelegramConfig>;

/** The settings as they are used. */
export const telegramSettingsOf = (config: TelegramConfig, environment: Environment): TelegramSettings => ({
  token: config.botToken ?? environment[config.botTokenEnv ?? ''] ?? '',
  apiRoot: withoutSlash(config.apiRoot),
  ...chatSettingsOf(config),
  groups: new Map(
    Object.entries(config.groups).map(([id, group]) => [id, { ...group, allowFrom: new Set(group.allowFrom) }]),
  ),
  hookUrl: config.webhookUrl && withoutSlash(config.webhookUrl) + HOOK_PATH,
  streaming: config.streaming,
  ackReaction: config.ackReaction,
  alertMs: config.alertMinutes * 60_000,
});

const withoutSlash = (url: string): string => trimEndOf(url, '/');
