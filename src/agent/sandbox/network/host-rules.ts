import type { HostDecision } from '../../../egress/host-decision.ts';
import type { ProxyTarget } from '../../../egress/proxy/proxy-target.ts';
import type { HostRule } from '../../permissions/rules/host-rule.ts';

/** The ports that a host without a port means. */
const WEB_PORTS = [80, 443];

export interface AllowedHosts {
  /** `tools.network.allow`: `example.com`, `*.example.com`, `localhost:5432`. */
  configured: readonly string[];
  /** Registries of the packages that the project uses. */
  registries: readonly string[];
  /** Hosts that the command itself names, or that were asked about, so that whoever let it run has seen them. Any port. */
  named: readonly string[];
  /** The permission rule about a host. */
  ruleOn?(host: string): HostRule | undefined;
}

/**
 * Whether a command may connect to a host. Only the configuration can allow private addresses, and only without a
 * wildcard, because whoever owns a domain can let its names lead anywhere. A rule that asks wants a person to have seen the
 * host.
 */
export function decideHost(
  { configured, registries, named, ruleOn = () => undefined }: AllowedHosts,
  target: ProxyTarget,
): HostDecision {
  const rule = ruleAbout(target.host, ruleOn);
  if (rule?.action === 'deny') return { kind: 'deny', rule: rule.ruleId };
  const isNamed = named.includes(target.host);
  if (rule?.action === 'ask' && !isNamed) return { kind: 'deny' };
  const entry = configured.find((pattern) => matches(pattern, target));
  const denies = (address: string) => {
    const about = ruleAbout(address, ruleOn);
    return about?.action === 'deny' ? about.ruleId : undefined;
  };
  if (entry !== undefined) return { kind: 'allow', mayBePrivate: !entry.startsWith('*.'), denies };
  const isKnown = isNamed || rule?.action === 'allow' || registries.some((host) => matches(host, target));
  return isKnown ? { kind: 'allow', mayBePrivate: false, denies } : { kind: 'deny' };
}

const OWN_NAMES = ['localhost', '127.0.0.1', '::1'];

/** A rule about this machine holds for all its names. What denies stands above everything. */
function ruleAbout(host: string, ruleOn: (host: string) => HostRule | undefined): HostRule | undefined {
  const rules = (OWN_NAMES.includes(host) ? OWN_NAMES : [host]).map(ruleOn);
  return rules.find((rule) => rule?.action === 'deny') ?? rules.find((rule) => rule !== undefined);
}

/** Whether the configuration allows a host on a port of the web. */
export const isAllowedHost = (configured: readonly string[], host: string): boolean =>
  configured.some((pattern) => WEB_PORTS.some((port) => matches(pattern, { host, port })));

function matches(pattern: string, { host, port }: ProxyTarget): boolean {
  const [, name = '', ports] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  const isPort = ports === undefined ? WEB_PORTS.includes(port) : Number(ports) === port;
  const bare = name.replace(/^\[|\]$/g, '');
  return isPort && (bare.startsWith('*.') ? host.endsWith(bare.slice(1)) : host === bare);
}

/** The ports of this machine that the configuration allows, such as 5432 of `localhost:5432`. */
export const localPortsIn = (configured: readonly string[]): number[] =>
  configured.flatMap((pattern) => {
    const port = /^(?:localhost|127\.0\.0\.1):(\d+)$/i.exec(pattern)?.[1];
    return port === undefined ? [] : [Number(port)];
  });
