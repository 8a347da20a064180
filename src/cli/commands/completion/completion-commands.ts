import { Argument, type Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import { SHELLS, type Shell } from '../../completion/shells.ts';

interface CompletionCommandsDeps {
  around: Surroundings;
}

/** Adds `headgate completion`. Call it last: the scripts complete the commands that exist when one is run. */
export function addCompletionCommands(program: Command, { around }: CompletionCommandsDeps): void {
  const completion = program.command('completion').description('complete commands with Tab in bash, zsh and fish');
  const toScript = async (shell: Shell) => {
    const [{ toCommandWords }, { toShellScript }] = await Promise.all([
      import('../../completion/command-words.ts'),
      import('../../completion/shell-scripts.ts'),
    ]);
    return toShellScript(shell, toCommandWords(program));
  };
  completion
    .command('install')
    .description('write the script to the place where the shell finds it')
    .addArgument(new Argument('[shell]', 'shell (default: the one in SHELL)').choices(SHELLS))
    .action(async (named: Shell | undefined) => {
      const { detectShell, installScript } = await import('../../completion/install-script.ts');
      const shell = named ?? detectShell(around);
      const lines = await installScript(shell, await toScript(shell), around);
      process.stdout.write(`${lines.join('\n')}\n`);
    });
  for (const shell of SHELLS) {
    completion
      .command(shell)
      .description(`print the script for ${shell}`)
      .action(async () => void process.stdout.write(await toScript(shell)));
  }
}
