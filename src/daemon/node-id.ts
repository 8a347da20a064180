import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { hostname, platform } from 'node:os';
import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import type { Machine } from '../gateway/store/postgres/lease/lease.ts';
import type { Membership } from '../gateway/workers/team.ts';
import type { OwnProof } from '../http/standby/active-daemon.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { machineUrlOf } from './life/machine-url.ts';

/**
 * The name of this daemon in `/health`: the host name and four hex digits of the home folder's real path (decision 23).
 * It is the same at every start, and different for each daemon of a machine.
 */
export function nodeIdOf(home: string, host: string): string {
  const digits = createHash('sha256').update(realpathSync(home)).digest('hex').slice(0, 4);
  return `${host || 'headgate'}_${digits}`;
}

/** How the daemon describes itself to clients. */
export const machineOf = (
  { version, home, machineLabels: labels = [] }: Pick<DaemonOptions, 'version' | 'home' | 'machineLabels'>,
  url: () => string,
): GatewayDeps['server'] => {
  const host = hostname();
  return { version, host, nodeId: nodeIdOf(home, host), labels, platform: platform(), url };
};

interface ProcessParts {
  server: GatewayDeps['server'];
  /** Its port is known once the server listens. */
  address: { host: string; port: number };
  /** Absent: no other daemon can use the store. */
  proof: OwnProof | undefined;
  membership: Readonly<Membership>;
}

/** How this process describes itself to the other daemons of its database. */
export const machineOfProcess = (
  { ids, machineUrl, worker }: Pick<DaemonOptions, 'ids' | 'machineUrl' | 'worker'>,
  { server, address, proof, membership }: ProcessParts,
): Machine => ({
  process: proof?.process ?? ids.secret(8),
  nodeId: server.nodeId,
  version: server.version,
  labels: server.labels,
  url: () => (address.port === 0 ? '' : server.url()),
  address: () => (address.port === 0 && machineUrl === undefined ? undefined : machineUrlOf(address, machineUrl)),
  publicKey: proof?.key.publicKey ?? '',
  isWorker: worker !== undefined,
  trouble: () => membership.trouble,
});
