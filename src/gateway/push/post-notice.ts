import { EgressError } from '../../egress/guarded-egress.ts';
import { askedWaitMs } from '../channels/calls/asked-wait.ts';
import { DeliveryError } from '../channels/channel.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const TIMEOUT_MS = 30_000;
/** Temporary refusals that are worth a retry. Other 4xx are permanent. */
const RETRYABLE = new Set([408, 409, 425, 429]);

/** The server says that this address is no longer one. */
export class GoneError extends DeliveryError {
  constructor(status: number) {
    super(`HTTP ${status}`, { retryable: false });
  }
}

/** Sends a request whose answer has no content. Throws DeliveryError, whose message never has the address. */
export async function postNotice(
  fetch: Fetch,
  url: string,
  init: RequestInit & { signal: AbortSignal },
): Promise<void> {
  const signal = AbortSignal.any([init.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const response = await fetch(url, { ...init, signal }).catch((error: unknown) => {
    throw withoutAddress(error, new URL(url));
  });
  await response.body?.cancel(); // it is not used
  const { ok, status, headers } = response;
  if (ok) return;
  if (status === 404 || status === 410) throw new GoneError(status);
  throw new DeliveryError(`HTTP ${status}`, {
    retryable: status >= 500 || RETRYABLE.has(status),
    retryAfterMs: askedWaitMs(headers.get('retry-after')),
  });
}

/** Some errors repeat the address, which is as good as a password. */
function withoutAddress(error: unknown, { host, href, pathname }: URL): DeliveryError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { message } = toDeliveryError(cause);
  const reason = message.replaceAll(href, host).replaceAll(pathname.length > 1 ? pathname : href, '');
  return new DeliveryError(reason, { retryable: !(cause instanceof EgressError) });
}

/** An error of another kind may be gone the next time. */
export function toDeliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const words = error instanceof Error ? error.message || error.name : String(error);
  return new DeliveryError(words, { retryable: true, cause: error });
}
