import type { Clock } from '../clock.ts';
import { type ClientAddress, createClientAddress } from '../gateway/auth/client-address.ts';
import type { MachineSessions } from '../gateway/auth/machines/machine-sessions.ts';
import { createOriginPolicy, type OriginPolicy } from '../gateway/auth/origin-policy.ts';
import { createRateLimit, type RateLimit } from '../http/rate-limit.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { machineUrlOf } from './life/machine-url.ts';

/** Checks applied to every request first: whether it is allowed, and from which address it comes. */
export interface ClientPolicies {
  originPolicy: OriginPolicy;
  clientAddress: ClientAddress;
}

type PolicyOptions = Pick<DaemonOptions, 'authEnabled' | 'config' | 'machineUrl'>;

/** `machines`: the other daemons, if there can be any. */
export const clientPolicies = (
  options: PolicyOptions,
  address: { host: string; port: number },
  machines?: Pick<MachineSessions, 'clientOf'>,
): ClientPolicies => ({
  originPolicy: originPolicyAt(options, address, machines?.clientOf),
  clientAddress: createClientAddress(options.config.ratelimit.trustedProxies, machines?.clientOf),
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
function originPolicyAt(
  { authEnabled, config, machineUrl }: PolicyOptions,
  address: { host: string; port: number },
  clientOf: MachineSessions['clientOf'] | undefined,
): OriginPolicy {
  const { allowedOrigins, publicUrl } = config.server;
  const make = () =>
    createOriginPolicy({
      authEnabled,
      allowedHosts: [...config.server.allowedHosts, ...(clientOf ? [machineHost(address, machineUrl)] : [])],
      allowedOrigins,
      publicUrl,
      host: address.host,
      port: address.port,
      clientOf,
    });
  let made = { port: address.port, policy: make() };
  const policy = () => {
    if (made.port !== address.port) made = { port: address.port, policy: make() };
    return made.policy;
  };
  return {
    checkHost: (host) => policy().checkHost(host),
    refusalOfHost: (request) => policy().refusalOfHost(request),
    isOwn: (origin, host) => policy().isOwn(origin, host),
    isForeign: (headers) => policy().isForeign(headers),
    admitsSocket: (headers) => policy().admitsSocket(headers),
    admitsForeign: (method, url) => policy().admitsForeign(method, url),
  };
}

/** The name under which other daemons greet this one. */
const machineHost = (address: { host: string; port: number }, machineUrl: string | undefined): string =>
  new URL(machineUrlOf(address, machineUrl)).host;
