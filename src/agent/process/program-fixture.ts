import { findProgram, STANDARD_PATH } from './programs.ts';

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
