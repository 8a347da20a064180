import type { Clock } from '../clock.ts';
import { type ClientAddress, createClientAddress } from '../gateway/auth/client-address.ts';
import { createOriginPolicy, type OriginPolicy } from '../gateway/auth/origin-policy.ts';
import { createRateLimit, type RateLimit } from '../http/rate-limit.ts';
import type { DaemonOptions } from './daemon-options.ts';

/** Checks applied to every request first: whether it is allowed, and from which address it comes. */
export interface ClientPolicies {
  originPolicy: OriginPolicy;
  clientAddress: ClientAddress;
}

type PolicyOptions = Pick<DaemonOptions, 'authEnabled' | 'config'>;

export const clientPolicies = (options: PolicyOptions, address: { host: string; port: number }): ClientPolicies => ({
  originPolicy: originPolicyAt(options, address),
  clientAddress: createClientAddress(options.config.ratelimit.trustedProxies),
});

/** The limit of HTTP requests; undefined if there is none. */
export function rateLimitOf(
  { enabled, requestsPerSecond, burst }: DaemonOptions['config']['ratelimit'],
  deps: { clientAddress: ClientAddress; clock: Pick<Clock, 'monotonic'> },
): RateLimit | undefined {
  return enabled === false
    ? undefined
    : createRateLimit({ requestsPerSecond, burst, sparesLoopback: enabled === 'auto' }, deps);
}

/** With port 0 the port is known only once the server listens; the Host check needs it for names beyond loopback. */
function originPolicyAt({ authEnabled, config }: PolicyOptions, address: { host: string; port: number }): OriginPolicy {
  const { allowedHosts, allowedOrigins, publicUrl } = config.server;
  const make = () =>
    createOriginPolicy({
      authEnabled,
      allowedHosts,
      allowedOrigins,
      publicUrl,
      host: address.host,
      port: address.port,
    });
  let made = { port: address.port, policy: make() };
  const policy = () => {
    if (made.port !== address.port) made = { port: address.port, policy: make() };
    return made.policy;
  };
  return {
    checkHost: (host) => policy().checkHost(host),
    isOwn: (origin, host) => policy().isOwn(origin, host),
    isForeign: (headers) => policy().isForeign(headers),
    admitsSocket: (headers) => policy().admitsSocket(headers),
    admitsForeign: (method, url) => policy().admitsForeign(method, url),
  };
}
