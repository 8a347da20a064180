import { ServiceError } from '../calls/service-error.ts';

/** Why a call of the Graph API failed; `code` is `error.code` of the answer. Never contains the access token. */
export class GraphError extends ServiceError {
  override readonly name = 'GraphError';

  /** The person's last message is more than 24 hours old: only an approved template may be sent. */
  get needsTemplate(): boolean {
    return this.code === OUTSIDE_WINDOW;
  }
}

const OUTSIDE_WINDOW = 131_047;
/** An access token that is wrong, expired or without a right. */
const TOKEN_CODES: ReadonlySet<number> = new Set([0, 3, 10, 190]);

/** How long to wait after a limit; WhatsApp does not say it in its answer. */
const LIMIT_WAITS_MS: ReadonlyMap<number, number> = new Map([
  [4, 60_000], // calls of the app
  [80_007, 60_000], // calls of the account
  [130_429, 1_000], // messages per second
  [131_048, 60_000], // too many messages were reported as spam
  [131_056, 6_000], // messages to the same person
]);

/** The error for a refusal with this code. */
export function refusalOf(what: string, { code, message }: { code: number; message: string }): GraphError {
  const retryAfterMs = LIMIT_WAITS_MS.get(code);
  if (retryAfterMs !== undefined)
    return new GraphError('rate-limited', `WhatsApp limits ${what}: ${message} (${code}).`, { code, retryAfterMs });
  if (TOKEN_CODES.has(code) || (code >= 200 && code < 300))
    return new GraphError('unauthorized', `WhatsApp does not accept the access token (${code}).`, { code });
  return new GraphError('rejected', `WhatsApp refused ${what}: ${message} (${code}).`, { code });
}
