import path from 'node:path';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import type { Machine } from '../../gateway/store/postgres/lease/lease.ts';
import { createCheckpointThread } from '../../gateway/store/sqlite/checkpoint-thread.ts';
import { openSqliteStore } from '../../gateway/store/sqlite-store.ts';
import { asStartError } from '../as-start-error.ts';
import type { DaemonOptions } from '../daemon-options.ts';

type StoreOptions = Pick<
  DaemonOptions,
  'home' | 'clock' | 'log' | 'config' | 'bootId' | 'assets' | 'replace' | 'storeUrl' | 'onOver'
>;

/** Opens the database of `store.url`, or a file of the home. */
export async function openStore(options: StoreOptions, machine: Machine): Promise<DaemonStore> {
  const { storeUrl, clock, log, replace, onOver } = options;
  const store = await asStartError(async () => {
    if (storeUrl === undefined) return openFile(options);
    const { openPostgresStore } = await import('../../gateway/loaded/loaded-services.ts');
    const retryForMs = options.config.store.retrySecs * 1_000;
    return openPostgresStore({ url: storeUrl, machine, clock, log, retryForMs, onOver });
  });
  return replace?.store ? replace.store(store) : store;
}

function openFile({ home, clock, log, config, bootId, assets }: StoreOptions): Promise<DaemonStore> {
  const file = path.join(home, 'headgate.db');
  return openSqliteStore({
    path: file,
    clock,
    log,
    durability: config.durability,
    bootId,
    checkpoint: createCheckpointThread({ url: assets.checkpointWorkerUrl, path: file, clock }),
  });
}
