import type { HostDecision } from '../../../egress/proxy/egress-proxy.ts';
import type { ProxyTarget } from '../../../egress/proxy/proxy-target.ts';

/** The ports that a host without a port means. */
const WEB_PORTS = [80, 443];

export interface AllowedHosts {
  /** `tools.network.allow`: `example.com`, `*.example.com`, `localhost:5432`. */
  configured: readonly string[];
  /** Registries of the packages that the project uses. */
  registries: readonly string[];
  /** Hosts that the command itself names, so that whoever let it run has seen them. Any port. */
  named: readonly string[];
}

/**
 * Whether a command may connect to a host. Only the configuration can allow private addresses, and only without a
 * wildcard, because whoever owns a domain can let its names lead anywhere.
 */
export function decideHost({ configured, registries, named }: AllowedHosts, target: ProxyTarget): HostDecision {
  const entry = configured.find((pattern) => matches(pattern, target));
  if (entry !== undefined) return { kind: 'allow', mayBePrivate: !entry.startsWith('*.') };
  const isKnown = registries.some((host) => matches(host, target)) || named.includes(target.host);
  return isKnown ? { kind: 'allow', mayBePrivate: false } : { kind: 'deny' };
}

function matches(pattern: string, { host, port }: ProxyTarget): boolean {
  const [, name = '', ports] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  const isPort = ports === undefined ? WEB_PORTS.includes(port) : Number(ports) === port;
  const bare = name.replace(/^\[|\]$/g, '');
  return isPort && (bare.startsWith('*.') ? host.endsWith(bare.slice(1)) : host === bare);
}
