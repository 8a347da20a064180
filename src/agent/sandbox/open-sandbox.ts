import { createHash } from 'node:crypto';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import type { Ids } from '../../ids.ts';
import type { Program } from '../process/programs.ts';
import { detectSandbox, type Sandbox } from '../process/sandbox.ts';
import { createBarriers } from './barriers.ts';
import { systemCgroupFiles } from './limits/cgroups.ts';
import { createLimiter } from './limits/create-limiter.ts';
import type { Limiter } from './limits/limits.ts';
import { findMachinePlaces } from './machine-places.ts';

/** The settings of the sandbox: `tools` of the configuration. */
export interface SandboxSettings {
  /** `off` is read as `auto`. */
  sandbox: 'auto' | 'off' | 'required';
  homePaths: readonly string[];
  limits: { processes: number; memoryMb?: number | undefined; fileMb: number; tmpMb: number };
}

interface OpenOptions {
  /** Headgate's home. */
  home: string;
  environment: Environment;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  programs: { bwrap: Program; bash: Program };
  settings: SandboxSettings;
  /** For a look beside a running daemon, whose traces it leaves alone. */
  isTrial?: boolean;
  /** Real paths of the homes of other people. */
  homes: readonly string[];
}

const MIB = 1_024 * 1_024;
const DEFAULT_MEMORY_MB = 4_096;

interface Opened {
  sandbox: Sandbox;
  limiter: Limiter;
  /** Sentences about what is not as it was asked for. */
  notices: string[];
}

/** The sandbox and the limits of commands on this machine. */
export async function openSandbox(options: OpenOptions): Promise<Opened> {
  const { home, environment, clock, ids, programs, settings, homes, isTrial = false } = options;
  const { processes, memoryMb, fileMb, tmpMb } = settings.limits;
  const barriers = createBarriers({ folder: join(home, 'barriers') });
  const mode = settings.sandbox === 'required' ? 'required' : 'auto';
  const tmpBytes = tmpMb * MIB;
  const memoryBytes = memoryMb === undefined ? Math.min(DEFAULT_MEMORY_MB * MIB, halfOf(totalmem())) : memoryMb * MIB;
  const opening = createLimiter({
    limits: { processes, memoryBytes, fileBytes: fileMb * MIB },
    name: isTrial
      ? ids.id('headgate-check')
      : `headgate-${createHash('sha256').update(home).digest('hex').slice(0, 12)}`,
    clock,
    ids,
    files: systemCgroupFiles,
  });
  const [limiter, places] = await Promise.all([
    opening, // before the sandbox is tried out, whose process would be in the group of this one, which must be alone there
    findMachinePlaces({ environment, homes, homePaths: settings.homePaths }),
    isTrial ? undefined : barriers.removeLeftovers(),
  ]);
  const sandbox = await detectSandbox({ mode, home, environment, clock, programs, places, barriers, tmpBytes });
  return { sandbox, limiter, notices: toNotices(sandbox, places.keptHidden) };
}

/** Nothing is hidden without a sandbox. */
function toNotices(sandbox: Sandbox, keptHidden: readonly string[]): string[] {
  if (sandbox.kind === 'none') return [];
  return [...(sandbox.weaker === undefined ? [] : [sandbox.weaker]), ...keptHidden.map(toHiddenNotice)];
}

const toHiddenNotice = (path: string): string =>
  `Commands in the sandbox do not see ${path}, although the PATH or a setting names it, because it holds a whole home or other secrets. Name the folder of the programs in place of it.`;

const halfOf = (bytes: number): number => Math.floor(bytes / 2 / MIB) * MIB;
