import type { Clock } from '../../../clock.ts';
import { type BotApi, createBotApi } from './bot-api.ts';
import { accountOf, type TelegramSettings } from './telegram-settings.ts';

/** The bot of the settings in force. */
export interface Bot {
  api: BotApi;
  account: string;
  settings: TelegramSettings;
}

export interface TelegramDeps extends BotDeps {
  /** For files that are sent. Refuses private addresses. */
  fetchMedia(url: string, init: RequestInit): Promise<Response>;
}

export interface BotDeps {
  /** Read at each use; undefined: there is no bot. */
  settings(): TelegramSettings | undefined;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** Returns the bot in force; undefined if there is none, or its token is missing. */
export function createBots({ settings, fetch }: BotDeps, clock: Pick<Clock, 'sleep'>): () => Bot | undefined {
  let made: { token: string; apiRoot: string; api: BotApi } | undefined;
  return () => {
    const current = settings();
    if (current === undefined || accountOf(current) === '') return undefined;
    const { token, apiRoot } = current;
    if (made?.token !== token || made.apiRoot !== apiRoot)
      made = { token, apiRoot, api: createBotApi({ token, apiRoot, fetch, clock }) };
    return { api: made.api, account: accountOf(current), settings: current };
  };
}
