import { createHmac } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { EgressError } from '../../egress/guarded-egress.ts';
import { askedWaitMs } from './calls/asked-wait.ts';
import { type Channel, type Delivery, DeliveryError } from './channel.ts';

/** A destination of config.json. */
export interface WebhookDestination {
  url: string;
  /** Signs every message. */
  secret: string;
}

export interface WebhookDeps {
  /** Keyed by name. Read at each use, because an operator may change them. */
  destinations(): ReadonlyMap<string, WebhookDestination>;
  fetch(url: string, init: RequestInit): Promise<Response>;
  clock: Pick<Clock, 'now'>;
}

const TIMEOUT_MS = 30_000;
/** Temporary refusals that are worth a retry. Other 4xx are permanent. */
const RETRYABLE = new Set([408, 409, 425, 429]);

/**
 * POSTs messages as JSON, signed as specified by Standard Webhooks (https://www.standardwebhooks.com): `webhook-id`,
 * `webhook-timestamp` in seconds, `webhook-signature` `v1,<base64 HMAC-SHA256 of "id.timestamp.body">`. Does not follow
 * redirects, because the message and its signature are for the configured address only.
 */
export const createWebhookChannel = ({ destinations, fetch, clock }: WebhookDeps): Channel => ({
  name: 'webhook',
  get destinations() {
    return [...destinations().keys()];
  },
  find: async (to) => (destinations().has(to) ? to : undefined),
  async deliver(delivery) {
    const destination = destinations().get(delivery.to);
    if (!destination) throw new DeliveryError('the destination is no longer in config.json', { retryable: false });
    const body = toBody(delivery);
    const response = await post(fetch, destination.url, {
      method: 'POST',
      signal: AbortSignal.timeout(TIMEOUT_MS), // not ended by the daemon's stop: nobody would know whether it arrived
      headers: {
        'content-type': 'application/json',
        ...signedHeaders(delivery.messageId, body, { destination, nowMs: clock.now() }),
      },
      body,
    });
    await response.body?.cancel(); // the response body is not used
    if (!response.ok) throw refusalOf(response);
    return 'taken';
  },
});

async function post(fetch: WebhookDeps['fetch'], url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    if (cause instanceof EgressError) throw new DeliveryError(cause.message, { retryable: false, cause: error });
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    throw new DeliveryError(`no answer: ${reason}`, { retryable: true, cause: error });
  }
}

function refusalOf({ status, headers }: Response): DeliveryError {
  return new DeliveryError(`HTTP ${status}`, {
    retryable: status >= 500 || RETRYABLE.has(status),
    retryAfterMs: askedWaitMs(headers.get('retry-after')),
  });
}

const toBody = ({ messageId, message, mediaUrl, from, acceptedMs }: Delivery): string =>
  JSON.stringify({
    type: 'message',
    timestamp: new Date(acceptedMs).toISOString(),
    data: { messageId, message, ...(mediaUrl !== undefined && { mediaUrl }), from },
  });

/** The headers of a signed message: https://www.standardwebhooks.com. */
export function signedHeaders(
  messageId: string,
  body: string,
  { destination, nowMs }: { destination: WebhookDestination; nowMs: number },
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signed = createHmac('sha256', keyOf(destination.secret)).update(`${messageId}.${timestamp}.${body}`);
  return {
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signed.digest('base64')}`,
  };
}

/** `whsec_<base64>` encodes the bytes of the key; any other text is the key itself. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
