import type { StartFlags } from '../daemon/start.ts';
import { createProgram, type Invocation, runProgram } from './base-program.ts';

/** Keeps the compiled code of this start. The build replaces it (scripts/link-script.js), because sources run as modules. */
export const keepCode = (): void => undefined;

interface StartInvocation extends Invocation {
  keepCode(): void;
}

/** Runs `headgate start`. The build bundles it separately from the other commands, so that a start loads few files. */
export async function runCommand({ words, around, root, keepCode }: StartInvocation): Promise<void> {
  const { program, start } = await createProgram(root);
  start.action(async (flags: StartFlags) =>
    (await import('../daemon/start.ts')).start({ flags, around, root, keepCode }),
  );
  await runProgram(program, words);
}
