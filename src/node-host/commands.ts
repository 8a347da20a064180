import type { Clock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import type { ArgvPattern } from './argv-pattern.ts';
import { createFileRead, createFileWrite } from './file-commands.ts';
import type { Folders } from './folders.ts';
import type { LentCommand } from './lent-command.ts';
import type { LentPrograms } from './lent-programs.ts';
import { systemInfo } from './system-info.ts';
import { createSystemRun } from './system-run.ts';

interface LendingOptions {
  /** Empty: no program may run. */
  patterns: readonly ArgvPattern[];
  /** Empty: no file is lent. */
  folders: Folders;
  startedIn: string;
  environment: Environment;
  clock: Clock;
  programs: LentPrograms;
}

/** The commands that this machine lends, according to its flags. */
export function createCommands(options: LendingOptions): LentCommand[] {
  const { patterns, folders } = options;
  return [
    systemInfo,
    ...(patterns.length > 0 ? [createSystemRun(options)] : []),
    ...(folders.first === undefined ? [] : [createFileRead(folders), createFileWrite(folders)]),
  ];
}
