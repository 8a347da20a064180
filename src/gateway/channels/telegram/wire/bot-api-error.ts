import { ServiceError, type ServiceErrorDetails, type ServiceErrorKind } from '../../calls/service-error.ts';

interface BotApiErrorDetails extends ServiceErrorDetails {
  /** `description` of the answer. */
  description?: string | undefined;
  /** The group has become this supergroup. */
  migrateToChatId?: number | undefined;
}

/** Why a call of the Bot API failed; `code` is `error_code` of the answer. */
export class BotApiError extends ServiceError {
  override readonly name = 'BotApiError';
  readonly description: string | undefined;
  readonly migrateToChatId: number | undefined;

  constructor(kind: ServiceErrorKind, message: string, details: BotApiErrorDetails = {}) {
    super(kind, message, details);
    this.description = details.description;
    this.migrateToChatId = details.migrateToChatId;
  }
}
