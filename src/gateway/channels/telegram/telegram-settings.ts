/** Who may write in a direct chat. */
export const DM_POLICIES = ['pairing', 'allowlist', 'open', 'disabled'] as const;
export type DmPolicy = (typeof DM_POLICIES)[number];

/** What happens to a message of which nobody knows whether it arrived. */
export const AMBIGUOUS_POLICIES = ['once', 'retry'] as const;
export type AmbiguousPolicy = (typeof AMBIGUOUS_POLICIES)[number];

/** Where bots are, unless the settings name a server of their own. */
export const TELEGRAM_API_ROOT = 'https://api.telegram.org';

/** The settings of a bot, read at each use. Ids are decimal, as the service gives them. */
export interface TelegramSettings {
  /** Empty: the environment lacks it. */
  token: string;
  apiRoot: string;
  dmPolicy: DmPolicy;
  allowFrom: ReadonlySet<string>;
  /** Who may decide about tool calls; these people may not write because of it. */
  approvers: ReadonlySet<string>;
  groups: ReadonlyMap<string, GroupSettings>;
  session: 'chat' | 'main';
  ambiguous: AmbiguousPolicy;
  /** Without a successful poll for so long, `health` reports it. */
  alertMs: number;
}

export interface GroupSettings {
  /** Who may write there. */
  allowFrom: ReadonlySet<string>;
  /** Whether the bot only reads messages that mention it, reply to it or are commands for it. */
  requireMention: boolean;
}

/** The number of a bot, which is the part of its token that is no secret. */
export const accountOf = ({ token }: Pick<TelegramSettings, 'token'>): string => /^(\d+):/.exec(token)?.[1] ?? '';
