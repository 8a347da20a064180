import { realpath } from 'node:fs/promises';
import { findProgram, type ProgramSearch } from '../agent/process/programs.ts';
import { openSandbox } from '../agent/sandbox/open-sandbox.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { readOtherHomes } from './other-homes.ts';

/** The programs that the daemon and `headgate doctor` start by name. They are looked up here and nowhere else. */
export async function findPrograms({ environment, avoid }: Pick<ProgramSearch, 'environment' | 'avoid'>) {
  const search = { environment, avoid, uid: process.getuid?.(), platform: process.platform };
  const find = (name: string) => findProgram(name, search);
  const [bash, bwrap, rg, git] = await Promise.all([find('bash'), find('bwrap'), find('rg'), find('git')]);
  return { bash, bwrap, rg, git };
}

export type CommandsWay = Awaited<ReturnType<typeof openCommandsWay>>;

type WayOptions = Pick<DaemonOptions, 'home' | 'environment' | 'clock' | 'ids' | 'config' | 'replace'>;

/** How commands are run: the programs, the sandbox, which is tried out, and the limits. */
export async function openCommandsWay(options: WayOptions, workdir: string) {
  const { home, environment, clock, ids, config, replace } = options;
  const [real, homes] = await Promise.all([realpath(workdir), readOtherHomes(process.getuid?.())]);
  const workdirs = [real];
  const programs = await findPrograms({ environment, avoid: workdirs });
  const { sandbox, limiter, notices } = await openSandbox({
    home,
    environment,
    clock,
    ids,
    programs: { bash: programs.bash, bwrap: replace?.bwrap ?? programs.bwrap },
    settings: config.tools,
    homes,
  });
  return { workdirs, programs, sandbox, limiter, notices };
}
