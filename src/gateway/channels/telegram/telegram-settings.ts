import type { ChatSettings } from '../chats/chat-settings.ts';

/** Where bots are, unless the settings name a server of their own. */
export const TELEGRAM_API_ROOT = 'https://api.telegram.org';

/** Where Telegram calls the daemon, below its address. */
export const HOOK_PATH = '/v1/api/channels/telegram/webhook';

/** Reactions that bots may use and that say "seen". */
export const ACK_REACTIONS = ['👀', '👍', '👌', '✍', '🫡', '⚡', '🤔', '❤'] as const;
type AckReaction = (typeof ACK_REACTIONS)[number];

/** The settings of a bot, read at each use. */
export interface TelegramSettings extends ChatSettings {
  /** Empty: the environment lacks it. */
  token: string;
  apiRoot: string;
  /** Where Telegram calls the daemon with messages; undefined: the daemon asks for them. */
  hookUrl: string | undefined;
  /** The chats in which an answer in progress is shown. */
  streaming: 'direct' | 'all' | 'off';
  /** How the bot shows that it has read a message; undefined: it does not. */
  ackReaction: AckReaction | undefined;
  /** Without a successful poll for so long, `health` reports it. */
  alertMs: number;
}

/** The number of a bot, which is the part of its token that is no secret. */
export const accountOf = ({ token }: Pick<TelegramSettings, 'token'>): string => /^(\d+):/.exec(token)?.[1] ?? '';
