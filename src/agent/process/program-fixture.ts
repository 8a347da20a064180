import { findProgram, STANDARD_PATH } from './programs.ts';
import type { ProcessRunner } from './runner.ts';

/** Looks a program up where the system installs programs. */
export const findInstalled = (name: string) =>
  findProgram(name, {
    environment: { PATH: STANDARD_PATH },
    avoid: [],
    uid: process.getuid?.(),
    platform: process.platform,
  });

/** Programs of the machine that runs the tests. */
export const BASH = await findInstalled('bash');
export const BWRAP = await findInstalled('bwrap');
export const RG = await findInstalled('rg');

/** A machine on which nothing really runs, with a sandbox or without one. */
export const fakeMachine = (hasSandbox: boolean): Pick<ProcessRunner, 'sandbox' | 'bash'> => ({
  sandbox: hasSandbox
    ? {
        kind: 'bubblewrap',
        filter: Buffer.alloc(0),
        required: false,
        wrap: () => Promise.reject(new Error('unused')),
      }
    : { kind: 'none', reason: 'no bubblewrap', required: false },
  bash: { kind: 'found', path: '/bin/bash' },
});
