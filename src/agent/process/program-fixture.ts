import { findProgram, STANDARD_PATH } from './programs.ts';

const find = (name: string) =>
  findProgram(name, {
    environment: { PATH: STANDARD_PATH },
    avoid: [],
    uid: process.getuid?.(),
    platform: process.platform,
  });

/** Programs of the machine that runs the tests. */
export const BASH = await find('bash');
export const BWRAP = await find('bwrap');
export const RG = await find('rg');
