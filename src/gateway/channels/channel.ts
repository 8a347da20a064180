import type { Statement } from '../store/store.ts';

/** Where messages leave Headgate: chat services, other programs, other workstreams. */
export interface Channel {
  /** What `provider` and `channel` parameters say. */
  readonly name: string;
  /** Destinations it has, for people; empty: it is not linked to anything. Undefined: any that `find` knows. */
  readonly destinations: readonly string[] | undefined;
  /** The canonical name of a destination; undefined when there is none of this name. */
  find(to: string): Promise<string | undefined>;
  /**
   * Resolves once the other side has it. Throws DeliveryError or NotNow. The same messageId may come again after a crash,
   * unless the channel stored the end of the delivery together with its effect.
   */
  deliver(delivery: Delivery, attempt: Attempt): Promise<Delivered>;
}

export interface Attempt {
  /** Aborts when the daemon stops. */
  signal: AbortSignal;
  /** Records that it was delivered: for a channel whose effect is stored by us, in the same unit. */
  delivered(): Statement;
}

/** `recorded`: the channel has stored `delivered()`. */
export type Delivered = 'taken' | 'recorded';

export interface Delivery {
  messageId: string;
  /** As `find` answered it. */
  to: string;
  message: string;
  mediaUrl?: string | undefined;
  /** The principal or run that sent it. */
  from: string;
  acceptedMs: number;
}

/** The other side takes messages, but not at this moment: neither a failure nor an attempt. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
  /** When to look again. */
  readonly againInMs: number;

  constructor(message: string, { againInMs }: { againInMs: number }) {
    super(message);
    this.againInMs = againInMs;
  }
}

/** Why something was not delivered. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  /** Later it may work. */
  readonly retryable: boolean;
  /** The least that the other side wants to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { retryable: boolean; retryAfterMs?: number | undefined; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
  }
}
