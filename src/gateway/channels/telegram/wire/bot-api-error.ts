/**
 * How a call of the Bot API failed.
 * `unauthorized`: the token is wrong; final. `conflict`: another poller or a webhook receives the updates.
 * `rate-limited`: wait `retryAfterMs`. `rejected`: Telegram refused this request. `too-large`: a file is over the limit.
 * `unreachable`: Telegram certainly did not receive the request. `ambiguous`: the request may have been carried out.
 */
export type BotApiErrorKind =
  | 'unauthorized'
  | 'conflict'
  | 'rate-limited'
  | 'rejected'
  | 'too-large'
  | 'unreachable'
  | 'ambiguous';

interface BotApiErrorDetails {
  /** `error_code` of the answer. */
  code?: number | undefined;
  /** `description` of the answer. */
  description?: string | undefined;
  /** For `rate-limited`. */
  retryAfterMs?: number | undefined;
  /** The group has become this supergroup. */
  migrateToChatId?: number | undefined;
}

/** Why a call of the Bot API failed. Never contains the bot token: it has no cause, because causes repeat addresses. */
export class BotApiError extends Error {
  override readonly name = 'BotApiError';
  readonly kind: BotApiErrorKind;
  readonly code: number | undefined;
  readonly description: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly migrateToChatId: number | undefined;

  constructor(kind: BotApiErrorKind, message: string, details: BotApiErrorDetails = {}) {
    super(message);
    this.kind = kind;
    this.code = details.code;
    this.description = details.description;
    this.retryAfterMs = details.retryAfterMs;
    this.migrateToChatId = details.migrateToChatId;
  }
}
