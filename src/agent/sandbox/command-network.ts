import { isIP } from 'node:net';
import type { EffectKind } from '../../../protocol/events/call-effects.ts';
import type { RefusedHost } from '../../../protocol/events/command-result.ts';
import type { Connection, ProxyClient } from '../../egress/proxy/egress-proxy.ts';
import { parseTarget } from '../../egress/proxy/proxy-target.ts';
import type { CommandReading, Gap } from '../permissions/command-reading.ts';
import type { HostRule } from '../permissions/rules/host-rule.ts';
import type { Workdir } from '../tools/workdir.ts';
import { decideHost, localPortsIn } from './network/host-rules.ts';
import { findRegistries } from './network/registries.ts';

/** Who decides about the network of a command. */
export interface NetworkClient extends ProxyClient {
  /** Ports of this machine that the command finds at its own 127.0.0.1, for programs that use no proxy. */
  localPorts?: readonly number[];
}

/** What a command did with its network. */
export interface CommandNetwork extends NetworkClient {
  /** The hosts that it did not reach because they, or their addresses, are not allowed; each once. */
  refused(): RefusedHost[];
}

interface NetworkDeps {
  /** `tools.network.allow`. Read at each connection. */
  allowedHosts(): readonly string[];
  /** Hosts that a person allowed for this call although its text does not name them. */
  granted: readonly string[];
  /** The permission rule about a host. Read at each connection. */
  ruleOn(host: string): HostRule | undefined;
  /** Called once for each host, port and outcome. */
  onConnection?(connection: Connection): void;
}

/** Whether a command may need a network, so that it is worth the time to open one. */
export const mayUseNetwork = ({ effects, gaps }: CommandReading): boolean =>
  gaps.some(isOpen) ||
  effects.some(({ kind, isIncidental }) => (kind === 'network' && !isIncidental) || kind === 'unknown');

/**
 * Whether a command may change something in its roots. If not, they are mounted read-only, which is faster, too. What a
 * program changes beside its work, such as the index that `git status` refreshes, it does without.
 */
export const mayWrite = ({ effects, gaps }: CommandReading): boolean =>
  gaps.some(isOpen) || effects.some(({ kind, isIncidental }) => CHANGES.has(kind) && !isIncidental);

/** As for harmless commands: what unknown words depend on is in the effects. */
const isOpen = ({ reason }: Gap): boolean => reason !== 'unknown_words';

const CHANGES: ReadonlySet<EffectKind> = new Set(['write', 'delete', 'process', 'privilege', 'system', 'unknown']);

/** More hosts than this are not reported one by one. */
const MAX_REPORTED = 100;

/** The network of one command: registries, hosts of the configuration and of rules, and those that its text names. */
export async function openCommandNetwork(
  reading: CommandReading,
  { folder, readable }: Workdir,
  { allowedHosts, granted, ruleOn, onConnection }: NetworkDeps,
): Promise<CommandNetwork> {
  const registries = await findRegistries(
    reading,
    [folder, ...readable].map(({ way }) => way),
  );
  const named = [...namedBy(reading), ...granted.flatMap(toHost)];
  const seen = new Map<string, Connection>();
  return {
    localPorts: localPortsIn(allowedHosts()),
    decide(target) {
      return decideHost({ configured: allowedHosts(), registries, named, ruleOn }, target);
    },
    onConnection(connection) {
      const key = `${connection.outcome} ${connection.host} ${connection.port}`;
      if (seen.has(key) || seen.size >= MAX_REPORTED) return;
      seen.set(key, connection);
      onConnection?.(connection);
    },
    refused() {
      // A rule may have changed meanwhile; the last outcome counts.
      const latest = new Map([...seen.values()].map((one) => [`${one.host}:${one.port}`, one]));
      return [...latest.values()].flatMap(toRefused);
    },
  };
}

/** What it has been refused before is only reached if that was granted. */
const namedBy = ({ effects }: CommandReading): string[] =>
  effects.flatMap(({ kind, target, certain, isUnreached }) =>
    kind === 'network' && certain && !isUnreached && target !== undefined ? toHost(target) : [],
  );

function toHost(text: string): string[] {
  const found = parseTarget(isIP(text) === 6 ? `[${text}]` : text, ANY_PORT);
  return found === undefined ? [] : [found.host];
}

const ANY_PORT = 443;

function toRefused({ host, port, outcome, rule }: Connection): RefusedHost[] {
  if (outcome === 'address') return [{ host, port, reason: 'address' }];
  if (outcome !== 'refused') return [];
  return [rule === undefined ? { host, port, reason: 'not_allowed' } : { host, port, reason: 'rule', rule_id: rule }];
}
