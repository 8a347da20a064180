import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { promisify } from 'node:util';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type Program, whyNot } from '../../agent/process/programs.ts';
import type { Config } from '../config/config.ts';
import { findPrograms } from '../programs.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkSandbox } from './sandbox-checks.ts';

interface ToolSurroundings {
  /** A folder that exists. */
  folder: string;
  /** The default working directory of workstreams. */
  workdir: string;
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
}

/** Checks the sandbox and the programs that the agent's tools use. */
export async function checkTools({ folder, workdir, config, environment }: ToolSurroundings): Promise<Finding[]> {
  const avoid = [await realpath(workdir).catch(() => workdir)]; // the first start creates it
  const programs = await findPrograms({ environment, avoid });
  const { bash, rg, git } = programs;
  return [
    await checkSandbox({ folder, config, environment, avoid }),
    bash.kind === 'found'
      ? ok('bash', await describe(bash))
      : problem('bash', `${whyNot(bash)}: the agent cannot run commands`, 'apt-get install bash'),
    rg.kind === 'found'
      ? ok('rg', await describe(rg))
      : warning('rg', `${whyNot(rg)}: searching is slower`, 'apt-get install ripgrep'),
    git.kind === 'found' ? ok('git', await describe(git)) : warning('git', whyNot(git), 'apt-get install git'),
  ];
}

/** Its path, and the first line that `program --version` prints. */
async function describe({ path }: Extract<Program, { kind: 'found' }>): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 5_000, cwd: '/', env: {} });
    return `${path} (${stdout.split('\n')[0]})`;
  } catch (error) {
    return `${path} (unknown version: ${wordsOf(error)})`;
  }
}
