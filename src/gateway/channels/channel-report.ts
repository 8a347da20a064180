/** The state of a chat service; ChannelRow of the protocol says what each one means. */
export type ChannelState = 'off' | 'connecting' | 'polling' | 'listening' | 'conflict' | 'error';

/** What is known of the connection to a chat service. */
export interface ChannelReport {
  state: ChannelState;
  /** Why it does not receive messages. */
  why?: string;
  sinceMs: number;
  /** Headgate's account there; undefined: the service has not answered yet. */
  bot?: { account: string; username: string };
  lastPollMs?: number;
  /** How long ago a poll last succeeded, or the first one began; undefined: it is not polled. */
  silentMs?: number;
  /** For how long another program has received messages of the account, again and again; undefined: none does. */
  conflictMs?: number;
}
