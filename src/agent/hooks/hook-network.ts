import type { Connection } from '../../egress/proxy/egress-proxy.ts';
import type { HostRule } from '../permissions/rules/host-rule.ts';
import type { NetworkClient } from '../sandbox/command-network.ts';
import { decideHost, localPortsIn } from '../sandbox/network/host-rules.ts';

interface HookNetworkDeps {
  /** `tools.network.allow`. Read at each connection. */
  allowedHosts(): readonly string[];
  /** The permission rule about a host. Read at each connection. */
  ruleOn(host: string): HostRule | undefined;
  onConnection(connection: Connection): void;
}

/**
 * The network of a hook: the hosts of the configuration, without those that a rule denies or asks about. Rules that allow
 * are about calls, and allow a hook nothing. Undefined: the configuration names no host, so the hook has no network.
 */
export function openHookNetwork({ allowedHosts, ruleOn, onConnection }: HookNetworkDeps): NetworkClient | undefined {
  if (allowedHosts().length === 0) return undefined;
  const limiting = (host: string) => {
    const rule = ruleOn(host);
    return rule?.action === 'allow' ? undefined : rule;
  };
  return {
    localPorts: localPortsIn(allowedHosts()),
    decide: (target) => decideHost({ configured: allowedHosts(), registries: [], named: [], ruleOn: limiting }, target),
    onConnection,
  };
}
