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
  /** None: no program may be run. */
  patterns: readonly ArgvPattern[];
  /** None: no file is lent. */
  folders: Folders;
  startedIn: string;
  environment: Environment;
  clock: Clock;
  programs: LentPrograms;
}

/** What this machine lends, by what it was started with. */
export function createCommands(options: LendingOptions): LentCommand[] {
  const { patterns, folders } = options;
  return [
    systemInfo,
    ...(patterns.length > 0 ? [createSystemRun(options)] : []),
    ...(folders.first === undefined ? [] : [createFileRead(folders), createFileWrite(folders)]),
  ];
}
