import { z } from 'zod';
import { always, contract } from '../../contract.ts';

/** The process that takes over from a daemon. */
const DaemonRestart = z
  .strictObject({
    /** The version of the program that is installed now. */
    version: z.string(),
    /** Its process. */
    pid: z.int().min(1),
    /**
     * The versions of the database's tables, if the program migrates them. Then only programs that know `usableFrom` can use
     * them: if that is not more than `from`, the former program can, too.
     */
    migration: z.strictObject({ from: z.int().min(0), to: z.int().min(1), usableFrom: z.int().min(1) }).nullable(),
  })
  .meta({ id: 'DaemonRestart' });

/** The daemon as a program. */
export const daemonContracts = {
  'daemon.restart': contract({
    summary: 'Let a new process of the installed program take over the listening socket and all work.',
    scope: 'approve',
    permission: 'admin.settings',
    audit: { action: 'daemon.restart' },
    stepUp: always,
    refusesServices: true,
    params: () =>
      z
        .strictObject({
          /** Only finds out whether it could; the process ends again. Default: false. */
          check: z.boolean().optional(),
        })
        .meta({ id: 'DaemonRestartParams' }),
    result: () => DaemonRestart,
  }),
};
