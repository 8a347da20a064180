import type { NoticeContent } from '../../../protocol/methods/channels/push.ts';
import type { Standing } from '../auth/logins/standing.ts';

/** How much is told of something at all. */
export type Told = Exclude<NoticeContent, 'none'>;

/** What a notification says. */
export interface Notice {
  title: string;
  body?: string;
  /** The text is all that a person has to know to decide. */
  isWhole: boolean;
}

/** Something that waits for a person, as notifications tell it: a question, or one of the other things in the inbox. */
export interface Matter {
  /** What is told of it replaces, and takes back, what has the same id. Push servers and topics read it. */
  readonly id: string;
  /** The conversation; empty: of none. */
  readonly wsId: string;
  /** The entry of the inbox; absent: the one of the id. */
  readonly entry?: string;
  /** Undefined: it waits until somebody decides. */
  readonly expiresAtMs: number | undefined;
  /** What webhooks are told: the type of the message, the id, and what only those get who are told more than that something waits. */
  readonly named: {
    readonly type: 'question' | 'waiting';
    readonly id: Readonly<Record<string, string>>;
    readonly about: Readonly<Record<string, string>>;
  };
  notice(content: Told): Notice;
  /** This and the next are asked before each message, because they can end at any time. */
  waits(): Promise<boolean>;
  /** Whether somebody may decide about it. */
  isFor(standing: Standing): Promise<boolean>;
  /** Whether it is something for the targets of the configuration, which are the operator's. */
  isForOperator(): Promise<boolean>;
}

/** One message of Web Push holds 4096 bytes; a notification shows far less. */
const MOST_CHARS = 500;

export const cutText = (text: string): string => (text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text);
