import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock.ts';
import { type ClientAddress, isLoopback, networkOf } from '../gateway/auth/client-address.ts';
import { createTokenBucket, type TokenBucket } from '../timing/token-bucket.ts';

export interface RateLimitSettings {
  requestsPerSecond: number;
  burst: number;
  /** Requests from this machine are not limited. */
  sparesLoopback?: boolean;
}

/** Returns 0 when the client may send a request now, otherwise the wait in milliseconds. */
export type RateLimit = (req: IncomingMessage) => number;

/** Limit of remembered clients. Further clients are refused until one is forgotten. */
const MAX_CLIENTS = 100_000;
const FORGET_AFTER_MS = 3_600_000;
const PUT_OFF_MS = 1_000;

interface Client {
  bucket: TokenBucket;
  seenMs: number;
}

/** A token bucket per client address, or per network of IPv6 addresses. The map is ordered by when clients were last seen. */
export function createRateLimit(
  settings: RateLimitSettings,
  { clientAddress, clock }: { clientAddress: ClientAddress; clock: Pick<Clock, 'monotonic'> },
): RateLimit {
  const clients = new Map<string, Client>();
  const limit = { burst: settings.burst, perSecond: settings.requestsPerSecond };
  const forgetOldest = (nowMs: number) => {
    for (const [network, { seenMs }] of clients) {
      if (nowMs - seenMs < FORGET_AFTER_MS) return;
      clients.delete(network);
    }
  };
  return (req) => {
    const address = clientAddress(req);
    // Both, because a proxy on another machine may name its own loopback address.
    if (settings.sparesLoopback && isLoopback(address) && isLoopback(req.socket.remoteAddress ?? '')) return 0;
    const nowMs = clock.monotonic();
    forgetOldest(nowMs);
    const network = networkOf(address);
    const known = clients.get(network);
    if (known === undefined && clients.size >= MAX_CLIENTS) return PUT_OFF_MS;
    const bucket = known?.bucket ?? createTokenBucket({ limit: () => limit, clock });
    clients.delete(network);
    clients.set(network, { bucket, seenMs: nowMs });
    return bucket.take();
  };
}
