import type { OidcRefusal } from '../../../../protocol/methods/accounts/oidc.ts';

/** Why the provider did not log somebody in. The message is for the log: it may contain words of the provider. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly reason: OidcRefusal;

  constructor(reason: OidcRefusal, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
