import type { EffectKind } from '../../../protocol/events/call-effects.ts';
import type { Connection, ProxyClient } from '../../egress/proxy/egress-proxy.ts';
import type { ProxyTarget } from '../../egress/proxy/proxy-target.ts';
import { parseTarget } from '../../egress/proxy/proxy-target.ts';
import type { CommandReading } from '../permissions/command-reading.ts';
import type { Workdir } from '../tools/workdir.ts';
import { decideHost } from './network/host-rules.ts';
import { findRegistries } from './network/registries.ts';

/** What a command did with its network. */
export interface CommandNetwork extends ProxyClient {
  /** The hosts that it did not reach because they, or their addresses, are not allowed; each once. */
  refused(): ProxyTarget[];
}

interface NetworkDeps {
  /** `tools.network.allow`. Read at each connection. */
  allowedHosts(): readonly string[];
  /** Called once for each host, port and outcome. */
  onConnection?(connection: Connection): void;
}

/** Whether a command may need a network, so that it is worth the time to open one. */
export const mayUseNetwork = ({ effects, gaps }: CommandReading): boolean =>
  gaps.length > 0 || effects.some(({ kind }) => kind === 'network' || kind === 'unknown');

/** Whether a command may change something in its roots. If not, they are mounted read-only, which is faster, too. */
export const mayWrite = ({ effects, gaps }: CommandReading): boolean =>
  gaps.length > 0 || effects.some(({ kind }) => CHANGES.has(kind));

const CHANGES: ReadonlySet<EffectKind> = new Set(['write', 'delete', 'process', 'privilege', 'system', 'unknown']);

/** More hosts than this are not reported one by one. */
const MAX_REPORTED = 100;

/** The network of one command: registries, configured hosts, and the hosts that its text names. */
export async function openCommandNetwork(
  reading: CommandReading,
  { folder, readable }: Workdir,
  { allowedHosts, onConnection }: NetworkDeps,
): Promise<CommandNetwork> {
  const registries = await findRegistries(
    reading,
    [folder, ...readable].map(({ way }) => way),
  );
  const named = reading.effects.flatMap(({ kind, target, certain }) => {
    const host = kind === 'network' && certain && target !== undefined ? parseTarget(target, 443) : undefined;
    return host === undefined ? [] : [host.host];
  });
  const seen = new Map<string, Connection>();
  return {
    decide: (target) => decideHost({ configured: allowedHosts(), registries, named }, target),
    onConnection(connection) {
      const key = `${connection.outcome} ${connection.host} ${connection.port}`;
      if (seen.has(key) || seen.size >= MAX_REPORTED) return;
      seen.set(key, connection);
      onConnection?.(connection);
    },
    refused() {
      const all = [...seen.values()].filter(({ outcome }) => outcome === 'refused' || outcome === 'address');
      const byPlace = new Map(all.map(({ host, port }) => [`${host}:${port}`, { host, port }]));
      return [...byPlace.values()];
    },
  };
}
