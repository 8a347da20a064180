import type { Candidate, Holder } from '../../gateway/store/postgres/lease/candidate.ts';
import type { Machine } from '../../gateway/store/postgres/lease/lease.ts';
import type { Membership } from '../../gateway/workers/team.ts';
import type { ActiveDaemon, OwnProof } from '../../http/standby/active-daemon.ts';
import { createStandbyServer, type StandbyServer } from '../../http/standby/standby-server.ts';
import { type ListenAddress, listen } from '../../listen.ts';
import { clientPolicies } from '../client-policies.ts';
import type { DaemonOptions } from '../daemon-options.ts';

interface ListenDeps {
  machine: Machine;
  own: OwnProof;
  /** Its port is set once it is known. */
  address: ListenAddress;
  /** Of a worker. */
  membership?: Readonly<Membership>;
}

/** Serves clients by the active daemon, and says so. */
export async function listenAsStandby(
  options: DaemonOptions,
  candidate: Candidate,
  { machine, own, address, membership }: ListenDeps,
): Promise<StandbyServer> {
  const { standby, worker, version, clock, ids, log } = options;
  const { nodeId } = machine;
  const { originPolicy, clientAddress } = clientPolicies(options, address);
  const waiting = createStandbyServer({
    state: () => ({ version, nodeId, membership, active: candidate.holder() }),
    own,
    active: () => toActive(candidate.holder()),
    originPolicy,
    clientAddress,
    clock,
    requestIdPrefix: ids.secret(4),
    log,
  });
  candidate.onHolder(waiting.forwarder.follow);
  address.port = await listen(waiting.server, address);
  await (standby ?? worker)?.onWaiting({ port: address.port, active: candidate.holder() });
  return waiting;
}

/** An older version does not say how it proves who it is. */
function toActive(holder: Holder | undefined): ActiveDaemon | undefined {
  const { process, address, publicKey } = holder ?? {};
  if (process === undefined || address === undefined || publicKey === undefined) return undefined;
  return { process, address, publicKey };
}
