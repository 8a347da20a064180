import type { daemonContracts } from '../../../../protocol/methods/admin/daemon.ts';
import type { Handlers } from '../../call.ts';

/** The process that takes over. */
interface Restart {
  version: string;
  pid: number;
  /** The versions of the database's tables, if they are migrated, and the lowest one that may use them then. */
  migration: { from: number; to: number; usableFrom: number } | null;
}

export interface DaemonMethodDeps {
  /** Resolves when a new process has checked what it can; unless `check`, it takes over a moment later. */
  restart(options: { check: boolean }): Promise<Restart>;
}

export const daemonMethods = ({ restart }: DaemonMethodDeps): Handlers<keyof typeof daemonContracts> => ({
  'daemon.restart': async ({ check = false }) => restart({ check }),
});
