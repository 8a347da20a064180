import { homedir } from 'node:os';
import { useCompileCache } from '../home/compile-cache.ts';
import { resolveHome } from '../home/home-path.ts';

interface Invocation {
  argv: readonly string[];
  /** The package's folder, with package.json and dist/. */
  root: URL;
}

/** The command line. Imports little, because the compile cache has only what is loaded after it is switched on. */
export async function main({ argv, root }: Invocation): Promise<void> {
  const around = { environment: process.env, userHome: homedir(), cwd: process.cwd() };
  const words = withCommand(argv);
  const isStart = words[0] === 'start';
  if (isStart || words[0] === 'chat' || words[0] === 'tui')
    useCompileCache({ home: () => resolveHome({ home: homeIn(words) }, around), root });
  if (isStart) {
    const { runCommand, keepCode } = await import('./start-command.ts');
    await runCommand({ words, around, root, keepCode });
  } else {
    const { runCommand } = await import('./program.ts');
    await runCommand({ words, around, root });
  }
}

/** `headgate` alone starts the daemon, and so does `headgate --port 0`. */
function withCommand(argv: readonly string[]): string[] {
  const [first] = argv;
  const isAboutAll = first !== undefined && ['--help', '-h', '--version', '-V'].includes(first);
  return first === undefined || (first.startsWith('-') && !isAboutAll) ? ['start', ...argv] : [...argv];
}

/** The value of `--home`, before the command line is parsed and checked. By hand, because Node would load its parser for it. */
function homeIn(words: readonly string[]): string | undefined {
  const at = words.findLastIndex((word) => word === '--home' || word.startsWith('--home='));
  return words[at] === '--home' ? words[at + 1] : words[at]?.slice('--home='.length);
}
