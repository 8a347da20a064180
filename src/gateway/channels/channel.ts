import type { Notice } from '../../../protocol/notice.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { Statement } from '../store/store.ts';
import type { Trust, TrustedChat } from './chats/trust-in.ts';

/** A way for messages to leave Headgate: to chat services, other programs, or other workstreams. */
export interface Channel {
  /** The name in `provider` and `channel` parameters. */
  readonly name: string;
  /**
   * The destinations of the channel, for people. Empty: it is not linked. Undefined: every destination that `find`
   * knows.
   */
  readonly destinations: readonly string[] | undefined;
  /** What a sender should know before; undefined: nothing. */
  readonly notice?: Notice | undefined;
  /** What a person of a chat service may do now in a chat; undefined: nothing. Only of channels with people. */
  trustIn?(senderId: string, chat: TrustedChat): Promise<Trust | undefined>;
  /** The canonical name of a destination; undefined if it does not exist, as far as the viewer perceives. */
  find(to: string, viewer: Viewer): Promise<string | undefined>;
  /**
   * Resolves once the other side has accepted the message. Throws DeliveryError or NotNow. After a crash the same
   * messageId may come again, unless the channel stored the end of the delivery together with its effect.
   */
  deliver(delivery: Delivery, attempt: Attempt): Promise<Delivered>;
}

export interface Attempt {
  /** Aborts when the daemon stops. */
  signal: AbortSignal;
  /** Records the delivery, for a channel that stores its effect in our database, in the same unit. */
  delivered(): Statement;
  /** What the sender perceives now. */
  viewer(): Promise<Viewer>;
}

/** `recorded`: the end of the delivery is stored already, such as `delivered()` by the channel. */
export type Delivered = 'taken' | 'recorded';

export interface Delivery {
  messageId: string;
  /** As returned by `find`. */
  to: string;
  message: string;
  mediaUrl?: string | undefined;
  /** The principal or run that sent it. */
  from: string;
  acceptedMs: number;
}

/** The other side is temporarily busy. This is neither a failure nor an attempt. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
  /** When to try again. */
  readonly againInMs: number;

  constructor(message: string, { againInMs }: { againInMs: number }) {
    super(message);
    this.againInMs = againInMs;
  }
}

/** Why a message was not delivered. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  /** Whether a retry may succeed. */
  readonly retryable: boolean;
  /** The minimum wait that the other side asked for. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { retryable: boolean; retryAfterMs?: number | undefined; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
  }
}
