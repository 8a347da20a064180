import path from 'node:path';
import type { Store } from '../gateway/store/store.ts';
import { resolveWorkdir } from '../gateway/workstreams/workdir.ts';
import { createWorkdirs, type Workdirs } from '../gateway/workstreams/workdirs.ts';
import { resolveFolder } from '../home/home-path.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { readOtherHomes } from './other-homes.ts';

type WorkdirOptions = Pick<DaemonOptions, 'home' | 'userHome' | 'uid' | 'workdir' | 'config' | 'clock'>;

/** The folders that workstreams may work in, and the default one. */
export async function openWorkdirs(
  { home, userHome, uid, workdir, config, clock }: WorkdirOptions,
  store: Store,
): Promise<{ workdirs: Workdirs; workdir: string }> {
  const policy = {
    home,
    userHome,
    uid,
    otherHomes: await readOtherHomes(uid),
    standard: workdir ?? config.workdir ?? path.join(home, 'workspace'),
  };
  const { path: standard } = await resolveWorkdir(policy);
  const allowed = config.workdirs?.map((folder) => resolveFolder(folder, { userHome, cwd: home }));
  const workdirs = await createWorkdirs({ policy, allowed, store, clock });
  return { workdirs, workdir: standard };
}
