import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';
import process from 'node:process';

/** The machine of a measurement. */
export interface Machine {
  cores: number;
  cpu: string;
  memoryGiB: number;
  kernel: string;
  node: string;
  /** The load average of the last minute before the run, caused by other processes. */
  loadBefore: number;
}

export const describeMachine = (): Machine => ({
  cores: cpus().length,
  cpu: cpus()[0]?.model ?? 'unknown',
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
  node: process.version,
  loadBefore: Math.round((loadavg()[0] ?? 0) * 10) / 10,
});

/** The checked-out commit, marked if files have changed. */
export const describeCommit = (): string =>
  `${git('rev-parse', '--short', 'HEAD')}${isCheckoutChanged() ? ' with changes' : ''}`;

export const isCheckoutChanged = (): boolean => git('status', '--porcelain', '--untracked-files=no') !== '';

const git = (...args: string[]) => execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
