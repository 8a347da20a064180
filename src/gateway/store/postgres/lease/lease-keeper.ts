import type { Clock } from '../../../../clock.ts';
import type { Log } from '../../../../log.ts';
import { once } from '../../../../timing/once.ts';
import { type PostgresClient, writingClient } from '../postgres-connection.ts';
import { messageOf } from '../postgres-errors.ts';
import { type Lease, type Machine, renewLease } from './lease.ts';
import { LEASE_MS, RENEW_MS } from './lease-tables.ts';
import { forgetFormer, forgetMachine, readPeers, reportMachine } from './machines.ts';
import { createKnownPeers, type KnownPeers } from './peers.ts';

interface KeeperDeps {
  url: string;
  lease: Lease;
  machine: Machine;
  clock: Clock;
  log: Log;
  /** Another daemon has taken the lease. */
  onTaken(): void;
  /** The lease was not renewed in time: the server may be silent for longer than anybody waits. Called until it returns true, once for each such time. */
  onLate(error: unknown): boolean;
}

/** Renews the lease until it is closed. */
export interface LeaseKeeper {
  /** How long ago the lease was renewed last. */
  ageMs(): number;
  /** The lease was not renewed in time, so another daemon may have it. */
  mayBeTaken(): boolean;
  readonly peers: KnownPeers;
  close(): Promise<void>;
}

/** A renewal must not wait for a write that takes long, so it has a connection of its own. */
export function keepLease({ url, lease, machine, clock, log, onTaken, onLate }: KeeperDeps): LeaseKeeper {
  const stop = new AbortController();
  let client: PostgresClient | undefined;
  let renewedMs = clock.monotonic();
  const peers = createKnownPeers();
  const ageMs = () => clock.monotonic() - renewedMs;
  const failures = createFailures({ log, onLate }, { ageMs });

  const connect = async (): Promise<PostgresClient> => {
    const next = writingClient(url, LEASE_MS);
    next.on('error', (err) => log.debug({ err }, 'the connection that renews the lease ended'));
    await next.connect();
    await forgetFormer(next, machine);
    return next;
  };
  const renew = async (): Promise<boolean> => {
    const askedMs = clock.monotonic();
    client ??= await connect();
    const isOwn = await renewLease(client, lease);
    if (!isOwn) return false;
    await reportMachine(client, machine);
    peers.replace(await readPeers(client, machine));
    renewedMs = askedMs;
    failures.end();
    return true;
  };
  const drop = async () => {
    const former = client;
    client = undefined;
    await former?.end().catch(() => undefined); // it is gone already
  };
  /** How soon the lease has to be renewed again. */
  const attempt = async (): Promise<number> => {
    try {
      if (await renew()) return machine.url() === '' ? UNPLACED_MS : RENEW_MS;
      stop.abort();
      onTaken();
    } catch (error) {
      void drop();
      if (!stop.signal.aborted) failures.note(error);
    }
    return RETRY_MS;
  };
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const waitMs = await attempt();
      await clock.sleep(waitMs, stop.signal).catch(() => undefined); // closed: the loop ends
    }
  };
  const running = run();

  return {
    ageMs,
    // Also if nobody else was there: a standby may have come since.
    mayBeTaken: () => ageMs() > LEASE_MS,
    peers,
    close: once(async () => {
      stop.abort();
      await running;
      if (client) await forgetMachine(client, machine).catch(() => undefined); // another one forgets it in a day
      await drop();
    }),
  };
}

/** Tells once of renewals that fail one after the other, and once that it is too late for them. */
function createFailures({ log, onLate }: Pick<KeeperDeps, 'log' | 'onLate'>, { ageMs }: Pick<LeaseKeeper, 'ageMs'>) {
  let isFailing = false;
  let isLate = false;
  return {
    note(error: unknown): void {
      if (!isFailing) log.warn({ reason: messageOf(error) }, 'the lease of the database could not be renewed');
      isFailing = true;
      if (isLate || ageMs() <= LEASE_MS) return;
      isLate = onLate(error);
    },
    end(): void {
      if (isFailing) log.info({}, 'the lease of the database is renewed again');
      isFailing = false;
      isLate = false;
    },
  };
}

const RETRY_MS = 500;
/** Until it listens: the others learn its address soon. */
const UNPLACED_MS = 100;
