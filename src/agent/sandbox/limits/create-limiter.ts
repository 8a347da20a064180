import type { Clock } from '../../../clock.ts';
import type { Ids } from '../../../ids.ts';
import { type CgroupFiles, createCgroups, findCgroups } from './cgroups.ts';
import type { Limiter, Limits, LimitWay } from './limits.ts';
import { createWatcher } from './watcher.ts';

interface LimiterDeps {
  limits: Limits;
  /** Distinguishes the groups of this home from others. */
  name: string;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  files: CgroupFiles;
  /** For tests: without control groups. */
  without?: readonly LimitWay[];
}

/** Chooses the way: delegated groups of version 2, else writable groups of version 1, else a watcher. */
export async function createLimiter({ limits, name, clock, ids, files, without = [] }: LimiterDeps): Promise<Limiter> {
  const groups = await findCgroups({ name, files, without });
  if (groups === undefined) return createWatcher({ limits, clock });
  return createCgroups({ groups, limits, clock, ids, files });
}
