import type { StartFlags } from '../daemon/start.ts';
import { createProgram, type Invocation, runProgram } from './base-program.ts';

/** Runs `headgate start`. The build bundles it separately from the other commands, so that a start loads few files. */
export async function runCommand({ words, around, root }: Invocation): Promise<void> {
  const { program, start } = await createProgram(root);
  start.action(async (flags: StartFlags) => (await import('../daemon/start.ts')).start({ flags, around, root }));
  await runProgram(program, words);
}
