import { z } from 'zod';
import { whyNot } from '../agent/process/programs.ts';
import type { Clock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import type { ArgvPattern } from './argv-pattern.ts';
import type { Folders } from './folders.ts';
import { CommandProblem, type LentCommand } from './lent-command.ts';
import type { LentPrograms } from './lent-programs.ts';
import { runProgram } from './run-program.ts';

const SystemRunParams = z.strictObject({
  argv: z.array(z.string().max(32_768)).min(1).max(256),
  /** A lent folder or one below it. Default: the first lent folder, or the folder in which the node was started. */
  cwd: z.string().min(1).max(4_096).optional(),
});
type SystemRunParams = z.infer<typeof SystemRunParams>;

interface SystemRunDeps {
  patterns: readonly ArgvPattern[];
  folders: Folders;
  /** Where programs run if no folder is lent. */
  startedIn: string;
  environment: Environment;
  clock: Clock;
  programs: LentPrograms;
}

/** Runs a command that fits one of the patterns. */
export const createSystemRun = ({
  patterns,
  folders,
  startedIn,
  environment,
  clock,
  programs,
}: SystemRunDeps): LentCommand<SystemRunParams> => ({
  name: 'system.run',
  params: SystemRunParams,
  async run({ argv, cwd }, signal) {
    if (argv.some((argument) => argument.includes('\0'))) {
      throw new CommandProblem('INVALID_REQUEST', 'an argument contains a NUL character');
    }
    if (!patterns.some((pattern) => pattern.fits(argv))) {
      throw new CommandProblem(
        'FORBIDDEN',
        `this node was not started with --allow for: ${argv.join(' ').slice(0, 200)}`,
      );
    }
    const place = cwd === undefined ? undefined : await folders.locate(cwd);
    const folder = place?.path ?? folders.first ?? startedIn;
    const program = getProgram(argv[0] ?? '', programs);
    return runProgram({ program, argv, cwd: folder, environment, avoid: folders.all, clock }, signal);
  },
});

function getProgram(name: string, programs: LentPrograms): string {
  const program = programs.get(name) ?? { kind: 'missing' };
  if (program.kind === 'found') return program.path;
  throw new CommandProblem('UNAVAILABLE', `${name} ${whyNot(program)}`);
}
