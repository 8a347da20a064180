import { wordsOf } from '../../../protocol/words-of.ts';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import type { Candidate } from '../../gateway/store/postgres/lease/candidate.ts';
import type { Machine } from '../../gateway/store/postgres/lease/lease.ts';
import type { Membership } from '../../gateway/workers/team.ts';
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

/** A worker with its part of the database. */
export interface Joined {
  store: DaemonStore;
  /** Forwards clients to the active daemon. */
  listening: StandbyServer;
  /** Knows which daemon is active. */
  candidate: Candidate;
}

interface JoinDeps {
  machine: Machine;
  /** Absent: no other daemon can use the store. */
  proof: OwnProof | undefined;
  /** Where it listens; its port is set once it is known. */
  address: ListenAddress;
  membership: Membership;
}

/** How often a worker looks which daemon is active. */
const LOOK_MS = 250;

/** Opens the store of a worker, once another daemon is active. */
export async function joinAsWorker(
  options: DaemonOptions,
  { machine, proof, address, membership }: JoinDeps,
): Promise<Joined> {
  const { storeUrl, busUrl, worker, clock, log } = options;
  if (storeUrl === undefined || busUrl === undefined || proof === undefined || worker === undefined)
    throw new UsageError(
      'A worker needs a PostgreSQL store and a NATS server: set HEADGATE_STORE_URL and HEADGATE_STORE_BUS, or store.url and store.bus in config.json.',
    );
  const { openCandidate } = await import('../../gateway/loaded/loaded-services.ts');
  const candidate = await asStartError(() =>
    openCandidate({ url: storeUrl, machine, handedOver: undefined, clock, log }),
  );
  let listening: StandbyServer | undefined;
  try {
    await asStartError(() => requireSameSecrets(options, candidate.facts));
    listening = await listenAsStandby(options, candidate, { machine, own: proof, address, membership });
    await untilLed(candidate, options, { signal: worker.signal, membership });
    const store = await openStore(options, machine);
    void followLead(candidate, options, worker.signal);
    return { store, listening, candidate };
  } catch (error) {
    await candidate.close({ isOver: true });
    if (listening) await endStandby(listening);
    throw error;
  }
}

interface Waiting {
  signal: AbortSignal;
  membership: Membership;
}

/** Resolves when another daemon is active whose tables this version can use. */
async function untilLed(
  candidate: Candidate,
  { clock, log }: DaemonOptions,
  { signal, membership }: Waiting,
): Promise<void> {
  for (;;) {
    const before = membership.trouble;
    membership.trouble = await candidate
      .isFree()
      .then(() => whyNotLed(candidate))
      .catch(wordsOf);
    if (membership.trouble === undefined) return;
    if (membership.trouble !== before) log.warn({ reason: membership.trouble }, 'this worker waits');
    await clock.sleep(LOOK_MS, signal);
  }
}

async function whyNotLed(candidate: Candidate): Promise<string | undefined> {
  if (candidate.holder()?.publicKey === undefined) return 'no daemon is active';
  return (await candidate.hasOlderTables()) ? OLDER_TABLES : undefined;
}

const OLDER_TABLES =
  'The database has the tables of an older Headgate. This worker joins when the active daemon has been upgraded.';

async function followLead(candidate: Candidate, { clock, log }: DaemonOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await candidate.isFree().catch((err: unknown) => log.debug({ err }, 'the active daemon cannot be looked up'));
    await clock.sleep(LOOK_MS, signal).catch(() => undefined); // aborted: the loop ends
  }
  await candidate.close({ isOver: true });
}
