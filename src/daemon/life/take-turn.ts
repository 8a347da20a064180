import type { Server } from 'node:http';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import type { Candidate } from '../../gateway/store/postgres/lease/candidate.ts';
import type { Machine } from '../../gateway/store/postgres/lease/lease.ts';
import { createStandbyServer } from '../../http/standby/standby-server.ts';
import { closeServer, type ListenAddress, listen } from '../../listen.ts';
import { UsageError } from '../../start-error.ts';
import { asStartError } from '../as-start-error.ts';
import type { DaemonOptions } from '../daemon-options.ts';
import { openStore } from '../store/open-store.ts';
import { requireSameSecrets } from './same-secrets.ts';

interface Turn {
  store: DaemonStore;
  /** Listens already, while this daemon was a standby; the daemon takes its socket over. */
  listening?: Server;
}

interface TurnDeps {
  machine: Machine;
  /** Where the standby listens; its port is set once it is known. */
  address: ListenAddress;
}

/** Opens the store; as a standby, once no other daemon is active. */
export async function takeTurn(options: DaemonOptions, { machine, address }: TurnDeps): Promise<Turn> {
  const { standby, storeUrl } = options;
  if (standby === undefined) return { store: await openStore(options, machine) };
  if (storeUrl === undefined)
    throw new UsageError('A standby needs a PostgreSQL store: set HEADGATE_STORE_URL, or store.url in config.json.');
  const { openCandidate } = await import('../../gateway/loaded/loaded-services.ts');
  const { handedOver, signal } = standby;
  const { clock, log } = options;
  const candidate = await asStartError(() => openCandidate({ url: storeUrl, machine, handedOver, clock, log }));
  let listening: Server | undefined;
  try {
    if (!options.newSecrets) await asStartError(() => requireSameSecrets(options, candidate.facts));
    for (;;) {
      // A daemon that need not wait never says that it is a standby.
      if (!(await asStartError(candidate.isFree))) {
        listening ??= await listenAsStandby(options, { candidate, machine, address });
        await candidate.untilFree(signal);
      }
      const store = await openUnlessHeld(options, machine);
      if (store === undefined) continue; // another standby was quicker
      await candidate.close({ isOver: false });
      return { store, ...(listening && { listening }) };
    }
  } catch (error) {
    await candidate.close({ isOver: true });
    if (listening) await closeServer(listening);
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
  { standby, version, clock, ids, log }: DaemonOptions,
  { candidate, machine, address }: TurnDeps & { candidate: Candidate },
): Promise<Server> {
  const { nodeId } = machine;
  const server = createStandbyServer({
    state: () => ({ version, nodeId, active: candidate.holder() }),
    clock,
    requestIdPrefix: ids.secret(4),
    log,
  });
  address.port = await listen(server, address);
  await standby?.onWaiting({ port: address.port, active: candidate.holder() });
  return server;
}
