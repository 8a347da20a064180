import path from 'node:path';
import type { Store } from '../gateway/store/store.ts';
import { resolveWorkdir, type WorkdirPolicy } from '../gateway/workstreams/workdir.ts';
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
  const policy = await policyOf({ home, userHome, uid }, workdir ?? config.workdir);
  const { path: standard } = await resolveWorkdir(policy);
  const allowed = config.workdirs?.map((folder) => resolveFolder(folder, { userHome, cwd: home }));
  const workdirs = await createWorkdirs({ policy, allowed, store, clock });
  return { workdirs, workdir: standard };
}

/** What a folder has to satisfy, with the default one, or the one in the home. */
export const policyOf = async (
  { home, userHome, uid }: Pick<DaemonOptions, 'home' | 'userHome' | 'uid'>,
  standard = path.join(home, 'workspace'),
): Promise<WorkdirPolicy> => ({ home, userHome, uid, otherHomes: await readOtherHomes(uid), standard });
