import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Surroundings } from '../../home/home-path.ts';
import { whyUnreadable } from '../../home/why-unreadable.ts';
import { StartError, UsageError } from '../../start-error.ts';
import { SHELLS, type Shell } from './shells.ts';

/** The shell of the person. Throws UsageError if it is none of SHELLS. */
export function detectShell({ environment }: Pick<Surroundings, 'environment'>): Shell {
  const name = path.basename(environment.SHELL ?? '');
  const shell = SHELLS.find((one) => one === name);
  if (shell === undefined) {
    throw new UsageError(`The shell ${name || '(SHELL is not set)'} is not known. Name one of: ${SHELLS.join(', ')}.`);
  }
  return shell;
}

/** Where each shell looks for the completions of a person. */
function toPlace(shell: Shell, { environment, userHome }: Surroundings): string {
  const data = environment.XDG_DATA_HOME || path.join(userHome, '.local/share');
  const config = environment.XDG_CONFIG_HOME || path.join(userHome, '.config');
  const places: Record<Shell, string> = {
    bash: path.join(data, 'bash-completion/completions/headgate'),
    zsh: path.join(data, 'zsh/site-functions/_headgate'),
    fish: path.join(config, 'fish/completions/headgate.fish'),
  };
  return places[shell];
}

/** Writes the script to the place where the shell finds it, and returns what the person should know. */
export async function installScript(shell: Shell, script: string, around: Surroundings): Promise<string[]> {
  const file = toPlace(shell, around);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, script);
  } catch (cause) {
    throw new StartError(`${file} cannot be written: ${whyUnreadable(cause)}.`, { cause });
  }
  return [`Written: ${file}`, ...toAdvice(shell, file)];
}

function toAdvice(shell: Shell, file: string): string[] {
  switch (shell) {
    case 'bash':
      return [
        'New shells use it if the package bash-completion is installed. Otherwise, add to ~/.bashrc:',
        `  source ${file}`,
      ];
    case 'zsh':
      return [
        'Add to ~/.zshrc, before compinit, unless the folder is in fpath already:',
        `  fpath=(${path.dirname(file)} $fpath)`,
        '  autoload -U compinit && compinit',
      ];
    case 'fish':
      return ['New shells use it.'];
  }
}
