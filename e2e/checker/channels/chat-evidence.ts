import type { ChannelPart } from '../../../protocol/methods/channels/channel.ts';
import type { AmbiguousPolicy } from '../../../src/gateway/channels/chats/chat-settings.ts';
import type { ChatTable, ChunkTable } from '../../../src/gateway/store/schema/channels/channel-schema.ts';
import type { OutboxTable } from '../../../src/gateway/store/schema/schema.ts';
import type { Disk } from '../evidence.ts';

/**
 * All that is known of some time with a bot, over any number of kills, at rest. Plain data; the rules decide from it alone.
 */
export interface ChatEvidence {
  /** What happened to parts that may have arrived. */
  policy: AmbiguousPolicy;
  disk: Disk;
  /** What people wrote, in the order of their updates. */
  said: Said[];
  /** What the service shows of the bot, in the order in which it arrived. */
  shown: Shown[];
  inbox: StoredUpdate[];
  chats: Pick<ChatTable, 'chat' | 'ws_id' | 'owes_notice'>[];
  /** In the order of the outbox. */
  outbox: Pick<OutboxTable, 'message_id' | 'destination' | 'ws_id' | 'message' | 'status'>[];
  /** In the order of the outbox, and of the parts of a message. */
  chunks: Pick<ChunkTable, 'message_id' | 'chunk' | 'destination' | 'state' | 'provider_id'>[];
  /** Messages that showed answers in progress and did not become answers. */
  previews: Pick<ChunkTable, 'message_id' | 'destination' | 'state' | 'provider_id'>[];
  /** The buttons that people pressed. */
  presses: Press[];
  /** Who may decide. */
  approvers: string[];
  /** The questions that the operator decided elsewhere. */
  operator: string[];
  /** What people see of the parts. */
  listed: Pick<ChannelPart, 'messageId' | 'part' | 'state' | 'reason'>[];
  /** How many requests for updates were open at the same time, at most. */
  mostPolls: number;
}

export interface Said {
  chat: string;
  updateId: string;
  /** Occurs in this message and in its answer, and nowhere else. */
  tag: string;
  /** How many parts its answer has. */
  parts: number;
  /** Whether its run asks before it answers. */
  asks: boolean;
}

export interface Press {
  updateId: string;
  /** The person. */
  by: string;
  data: string;
}

export interface Shown {
  chat: string;
  messageId: string;
  text: string;
}

export interface StoredUpdate {
  update_id: string;
  chat: string;
  state: string;
  run_id: string | null;
}

/** The text of a part of an answer begins so. */
export const partText = (tag: string, part: number): string => `Answer to ${tag}, part ${part}.`;

/** The beginning of a notice that something may not have arrived. */
export const NOTICE = '⚠ Something that I sent you earlier may not have arrived.';

/** What the chat is told instead of an answer, after three crashes during the same run. */
export const NO_ANSWER = '⚠ There is no answer: The answer was interrupted three times by crashes of the daemon.';

/** The command that it asks about writes a file. */
const QUESTION = /^❓.*?\b(t\d+)\.txt\b/s;

/** What a message of the bot is: a part of an answer, a notice, a question, the end of a run without an answer, or something else. */
export function kindOf(text: string): string {
  if (text.startsWith(NOTICE)) return 'notice';
  if (text.startsWith(NO_ANSWER)) return 'no answer';
  const [, asked] = QUESTION.exec(text) ?? [];
  if (asked !== undefined) return `question about ${asked}`;
  return /^Answer to t\d+, part \d+\./.exec(text)?.[0] ?? 'something else';
}
