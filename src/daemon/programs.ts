import { findProgram, type ProgramSearch } from '../agent/process/programs.ts';

/** The programs that the daemon and `headgate doctor` start by name. They are looked up here and nowhere else. */
export async function findPrograms({ environment, avoid }: Pick<ProgramSearch, 'environment' | 'avoid'>) {
  const search = { environment, avoid, uid: process.getuid?.(), platform: process.platform };
  const find = (name: string) => findProgram(name, search);
  const [bash, bwrap, rg, git] = await Promise.all([find('bash'), find('bwrap'), find('rg'), find('git')]);
  return { bash, bwrap, rg, git };
}
