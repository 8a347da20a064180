/** Who may write in a direct chat. */
export const DM_POLICIES = ['pairing', 'allowlist', 'open', 'disabled'] as const;
export type DmPolicy = (typeof DM_POLICIES)[number];

/** What happens to a message of which nobody knows whether it arrived. */
export const AMBIGUOUS_POLICIES = ['once', 'retry'] as const;
export type AmbiguousPolicy = (typeof AMBIGUOUS_POLICIES)[number];

/** The settings that every chat service has, read at each use. Ids are decimal, as the service gives them. */
export interface ChatSettings {
  dmPolicy: DmPolicy;
  allowFrom: ReadonlySet<string>;
  /** Who may decide about tool calls; these people may not write because of it. */
  approvers: ReadonlySet<string>;
  groups: ReadonlyMap<string, GroupSettings>;
  session: 'chat' | 'main';
  ambiguous: AmbiguousPolicy;
}

export interface GroupSettings {
  /** Who may write there. */
  allowFrom: ReadonlySet<string>;
  /** Whether the bot only reads messages that mention it, reply to it or are commands for it. */
  requireMention: boolean;
}
