import type { MachineKey } from '../../gateway/auth/machines/machine-key.ts';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import type { Candidate, Holder } from '../../gateway/store/postgres/lease/candidate.ts';
import type { Machine } from '../../gateway/store/postgres/lease/lease.ts';
import type { ActiveDaemon } from '../../http/standby/active-daemon.ts';
import type { StandbyServer } from '../../http/standby/standby-server.ts';
import { type ListenAddress, listen } from '../../listen.ts';
import { UsageError } from '../../start-error.ts';
import { asStartError } from '../as-start-error.ts';
import { clientPolicies } from '../client-policies.ts';
import type { DaemonOptions } from '../daemon-options.ts';
import { openStore } from '../store/open-store.ts';
import { endStandby } from './end-standby.ts';
import { requireSameSecrets } from './same-secrets.ts';

interface Turn {
  store: DaemonStore;
  /** Listens already, while this daemon was a standby; the daemon takes its socket over. */
  listening?: StandbyServer;
}

interface TurnDeps {
  machine: Machine;
  key: MachineKey;
  /** Where the standby listens; its port is set once it is known. */
  address: ListenAddress;
}

/** Opens the store; as a standby, once no other daemon is active. */
export async function takeTurn(options: DaemonOptions, deps: TurnDeps): Promise<Turn> {
  const { machine } = deps;
  const { standby, storeUrl } = options;
  if (standby === undefined) return { store: await openStore(options, machine) };
  if (storeUrl === undefined)
    throw new UsageError('A standby needs a PostgreSQL store: set HEADGATE_STORE_URL, or store.url in config.json.');
  const { openCandidate } = await import('../../gateway/loaded/loaded-services.ts');
  const { handedOver, signal } = standby;
  const { clock, log } = options;
  const candidate = await asStartError(() => openCandidate({ url: storeUrl, machine, handedOver, clock, log }));
  let listening: StandbyServer | undefined;
  try {
    if (!options.newSecrets) await asStartError(() => requireSameSecrets(options, candidate.facts));
    for (;;) {
      // A daemon that need not wait never says that it is a standby.
      if (!(await asStartError(candidate.isFree))) {
        listening ??= await listenAsStandby(options, candidate, deps);
        await candidate.untilFree(signal);
      }
      const store = await openUnlessHeld(options, machine);
      if (store === undefined) continue; // another standby was quicker
      await candidate.close({ isOver: false });
      return { store, ...(listening && { listening }) };
    }
  } catch (error) {
    await candidate.close({ isOver: true });
    if (listening) await endStandby(listening);
    throw error;
  }
}

async function openUnlessHeld(options: DaemonOptions, machine: Machine): Promise<DaemonStore | undefined> {
  try {
    return await openStore(options, machine);
  } catch (error) {
    if (error instanceof Error && error.cause instanceof Error && error.cause.name === 'LeaseHeld') return undefined;
    throw error;
  }
}

async function listenAsStandby(
  options: DaemonOptions,
  candidate: Candidate,
  { machine, key, address }: TurnDeps,
): Promise<StandbyServer> {
  const { standby, version, clock, ids, log } = options;
  const { createStandbyServer } = await import('../../http/standby/standby-server.ts');
  const { nodeId, process } = machine;
  const { originPolicy, clientAddress } = clientPolicies(options, address);
  const waiting = createStandbyServer({
    state: () => ({ version, nodeId, active: candidate.holder() }),
    own: { process, key },
    active: () => toActive(candidate.holder()),
    originPolicy,
    clientAddress,
    clock,
    requestIdPrefix: ids.secret(4),
    log,
  });
  candidate.onHolder(waiting.forwarder.follow);
  address.port = await listen(waiting.server, address);
  await standby?.onWaiting({ port: address.port, active: candidate.holder() });
  return waiting;
}

/** An older version does not say how it proves who it is. */
function toActive(holder: Holder | undefined): ActiveDaemon | undefined {
  const { process, address, publicKey } = holder ?? {};
  if (process === undefined || address === undefined || publicKey === undefined) return undefined;
  return { process, address, publicKey };
}
