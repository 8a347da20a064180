import type { NoticeContent } from '../../../protocol/methods/channels/push.ts';
import type { Holders } from '../auth/logins/standing.ts';
import type { WebhookDestination } from '../channels/webhook.ts';
import type { Fetch } from './post-notice.ts';

/** A topic of ntfy that is told about questions. */
export interface NtfyTopic {
  /** With the name of the topic, which is as good as a password. */
  url: string;
  token: string | undefined;
  content: NoticeContent;
}

/** The settings of notifications. */
export interface PushSettings {
  /** How long a question waits before anybody is notified. */
  delayMs: number;
  /** Where push servers may write to, if something is wrong: an address that begins with `mailto:` or `https:`. */
  contact: string;
  /** Keyed by name. */
  ntfy: ReadonlyMap<string, NtfyTopic>;
  /** The webhooks that are told about questions, by name. */
  webhooks: ReadonlyMap<string, WebhookDestination & { content: NoticeContent }>;
}

/** What notifications need of the machine. */
export interface PushServices {
  /** Read at each use. */
  settings(): PushSettings;
  /** For addresses of the configuration. */
  fetch: Fetch;
  /** For addresses that browsers name: refuses private ones, with EgressError. */
  publicFetch: Fetch;
  /** Throws EgressError for an address that `publicFetch` would refuse without looking up its name. */
  requirePublic(address: string): void;
  /** What the callers who subscribe hang below. */
  holders: Holders;
  /** Where its keys are kept. */
  home: string;
}
