import { wordsOf } from '../../../protocol/words-of.ts';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import type { Machine } from '../../gateway/store/postgres/lease/lease.ts';
import type { OwnProof } from '../../http/standby/active-daemon.ts';
import type { StandbyServer } from '../../http/standby/standby-server.ts';
import type { ListenAddress } from '../../listen.ts';
import { UsageError } from '../../start-error.ts';
import { asStartError } from '../as-start-error.ts';
import type { DaemonOptions } from '../daemon-options.ts';
import { openStore } from '../store/open-store.ts';
import { endStandby } from './end-standby.ts';
import { listenAsStandby } from './listen-as-standby.ts';
import { requireSameSecrets } from './same-secrets.ts';

interface Turn {
  store: DaemonStore;
  /** Listens already, while this daemon was a standby; the daemon takes its socket over. */
  listening?: StandbyServer;
}

interface TurnDeps {
  machine: Machine;
  /** Absent: no other daemon can use the store. */
  proof: OwnProof | undefined;
  /** Where the standby listens; its port is set once it is known. */
  address: ListenAddress;
}

/** Opens the store; as a standby, once no other daemon is active. */
export async function takeTurn(options: DaemonOptions, deps: TurnDeps): Promise<Turn> {
  const { machine } = deps;
  const { standby } = options;
  if (standby === undefined) return { store: await openStore(options, machine) };
  const { storeUrl, own } = requireDatabase(options, deps);
  const { openCandidate } = await import('../../gateway/loaded/loaded-services.ts');
  const { handedOver, signal } = standby;
  const { clock, log } = options;
  const candidate = await asStartError(() => openCandidate({ url: storeUrl, machine, handedOver, clock, log }));
  let listening: StandbyServer | undefined;
  let loggedReason: string | undefined;
  try {
    if (!options.newSecrets) await asStartError(() => requireSameSecrets(options, candidate.facts));
    for (;;) {
      // A daemon that need not wait never says that it is a standby.
      if (listening !== undefined || !(await asStartError(candidate.isFree))) {
        listening ??= await listenAsStandby(options, candidate, { machine, own, address: deps.address });
        await candidate.untilFree(signal);
      }
      const store = await openUnlessHeld(options, machine).catch(async (error: unknown) => {
        if (listening === undefined || signal.aborted) throw error;
        const reason = wordsOf(error);
        if (reason !== loggedReason) log.warn({ reason }, 'this standby could not take over; it tries again');
        loggedReason = reason;
        await clock.sleep(AGAIN_MS, signal);
        return undefined;
      });
      if (store === undefined) continue; // another standby was quicker, or may be
      await candidate.close({ isOver: false });
      return { store, ...(listening && { listening }) };
    }
  } catch (error) {
    await candidate.close({ isOver: true });
    if (listening) await endStandby(listening);
    throw error;
  }
}

/** Others may take over meanwhile. */
const AGAIN_MS = 1_000;

function requireDatabase({ storeUrl }: DaemonOptions, { proof }: TurnDeps): { storeUrl: string; own: OwnProof } {
  if (storeUrl !== undefined && proof !== undefined) return { storeUrl, own: proof };
  throw new UsageError('A standby needs a PostgreSQL store: set HEADGATE_STORE_URL, or store.url in config.json.');
}

async function openUnlessHeld(options: DaemonOptions, machine: Machine): Promise<DaemonStore | undefined> {
  try {
    return await openStore(options, machine);
  } catch (error) {
    if (error instanceof Error && error.cause instanceof Error && error.cause.name === 'LeaseHeld') return undefined;
    throw error;
  }
}
