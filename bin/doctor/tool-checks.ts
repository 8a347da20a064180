import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { detectSandbox } from '../../src/agent/process/sandbox.ts';
import { findRipgrep } from '../../src/agent/tools/search-ripgrep.ts';
import { systemClock } from '../../src/clock.ts';
import type { Config } from '../config.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

interface ToolSurroundings {
  /** A folder that exists. */
  folder: string;
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
}

/** What the agent's tools use of the machine. */
export async function checkTools({ folder, config, environment }: ToolSurroundings): Promise<Finding[]> {
  const [sandbox, ripgrep, bash, git] = await Promise.all([
    detectSandbox({ mode: config.tools.sandbox, home: folder, environment, clock: systemClock }),
    findRipgrep(environment),
    versionOf('bash'),
    versionOf('git'),
  ]);
  return [
    sandbox.kind === 'bubblewrap'
      ? ok('sandbox', 'commands run in bubblewrap')
      : sandbox.required
        ? problem('sandbox', `${sandbox.reason}, and tools.sandbox is "required"`, 'apt-get install bubblewrap')
        : warning(
            'sandbox',
            `commands run without one: ${sandbox.reason}`,
            'apt-get install bubblewrap (docs/operating.md)',
          ),
    bash === undefined
      ? problem('bash', 'not found: the agent cannot run commands', 'Install bash.')
      : ok('bash', bash),
    ripgrep === undefined
      ? warning('rg', 'not found: searching is slower', 'apt-get install ripgrep')
      : ok('rg', ripgrep),
    git === undefined ? warning('git', 'not found', 'apt-get install git') : ok('git', git),
  ];
}

/** The first line that `program --version` prints. */
async function versionOf(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 5_000 });
    return stdout.split('\n')[0];
  } catch {
    return undefined; // not installed, or not usable
  }
}
