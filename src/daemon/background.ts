import type { Outputs } from '../agent/outputs/outputs.ts';
import type { Clock } from '../clock.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { createOldRatings } from '../gateway/judge/old-ratings.ts';
import { createCompaction } from '../gateway/store/compaction/compaction.ts';
import type { DaemonStore } from '../gateway/store/daemon-store.ts';
import { createRetention } from '../gateway/store/retention.ts';
import type { Log } from '../log.ts';
import { dailyWhileSteady } from '../timing/steady-time.ts';
import type { LiveConfig } from './config/live-config.ts';
import { collectOnceIdle } from './garbage.ts';

interface BackgroundDeps {
  clock: Clock;
  log: Log;
  live: Pick<LiveConfig, 'retentionDays' | 'judge'>;
  outputs: Pick<Outputs, 'removeOld'>;
  gateway: Gateway;
  models: { run(signal: AbortSignal): Promise<void> };
  store: DaemonStore;
  bodies: { run(signal: AbortSignal): Promise<void> };
  auth: Record<'sessions' | 'tokens' | 'trail', { run(signal: AbortSignal): Promise<void> }>;
  signal: AbortSignal;
}

/** How often the daemon stores that it is alive. Approvals do not age while it is down. */
const ALIVE_MS = 30_000;
/** The first of so many is synced to disk, with the start of the daemon: after a power loss, the time is right to a minute. */
const ALIVE_SYNCED = 2;
const DAY_MS = 86_400_000;

/** Runs all background services until the signal aborts. If one fails, the others continue. */
export function runInBackground(deps: BackgroundDeps): Promise<unknown> {
  const { clock, log, live, outputs, gateway, models, store, auth, bodies, signal } = deps;
  const retention = createRetention({ store, clock, log, live, isBeingMade: gateway.isBeingMade });
  const stayAlive = async () => {
    for (let marks = 0; !signal.aborted; marks += 1) {
      await store
        .markAlive(clock.now(), { durable: marks % ALIVE_SYNCED === 0 })
        .catch((error: unknown) => log.warn({ err: error }, 'could not store that the daemon is alive'));
      await clock.sleep(ALIVE_MS, signal).catch(() => undefined); // aborted: the loop ends
    }
  };
  const tidyOutputs = () =>
    outputs
      .removeOld(clock.now() - live.retentionDays * DAY_MS)
      .catch((err: unknown) => log.warn({ err }, 'old outputs could not be removed'));
  const services = {
    gateway,
    models,
    retention,
    ...(store.machine === null && {
      logins: auth.sessions,
      tokens: auth.tokens,
      audit: auth.trail,
      ratings: createOldRatings({ store, live, clock, log }),
    }),
    ...compactionOf(store, { clock, log }),
    bodies,
    outputs: { run: () => dailyWhileSteady(clock, signal, tidyOutputs) },
    alive: { run: stayAlive },
    memory: { run: () => collectOnceIdle({ clock }, signal) },
  };
  return Promise.all(
    Object.entries(services).map(async ([name, service]) => {
      try {
        await service.run(signal);
      } catch (error) {
        if (!signal.aborted) log.error({ err: error, service: name }, 'a background service failed');
      }
    }),
  );
}

/** A database that compresses long rows itself needs none. */
function compactionOf(
  { readEventRows, ...store }: DaemonStore,
  { clock, log }: Pick<BackgroundDeps, 'clock' | 'log'>,
): { compaction?: ReturnType<typeof createCompaction> } {
  if (readEventRows === undefined) return {};
  const { db, commit, bounds, onCommitted, readMessages } = store;
  const compacted = { db, commit, bounds, onCommitted, readMessages, readEventRows };
  return { compaction: createCompaction({ store: compacted, clock, log }) };
}
