import { join } from 'node:path';
import type { Environment } from '../../environment.ts';
import { type MachineKeyFiles, machineKeyFiles } from '../../home/machine-key.ts';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { Vault } from '../secrets/vault.ts';
import type { Store } from '../store/store.ts';

type Options = Partial<Omit<Parameters<typeof Vault.open>[0], 'store'>> & { environment?: Environment };

/** The files of a machine's key in a home. */
export const testKeys = (home: string, environment: Environment = {}): MachineKeyFiles =>
  machineKeyFiles(home, environment, randomIds);

/** A vault over a store, with the files of a home. */
export const openTestVault = (
  store: Pick<Store, 'db' | 'commit' | 'emptyLog'>,
  home: string,
  {
    environment = {},
    keys = testKeys(home, environment),
    discardsLost = false,
    onNotice = () => undefined,
  }: Options = {},
): Promise<Vault> =>
  Vault.open({
    store,
    keys,
    discardsLost,
    onNotice,
    storePath: join(home, 'headgate.db'),
    clock: fakeClock(1_000),
    log: recordingLog(),
  });
