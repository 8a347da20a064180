import { Command } from 'commander';
import type { Surroundings } from '../home/home-path.ts';
import { readVersion } from '../version.ts';
import { toReport } from './report-error.ts';

export interface Invocation {
  /** The command and its arguments. */
  words: readonly string[];
  around: Surroundings;
  /** The package's folder, with package.json and dist/. */
  root: URL;
}

/** The program, and its main command, which the caller completes. */
export async function createProgram(root: URL): Promise<{ program: Command; start: Command }> {
  const program = new Command('headgate')
    .description(
      'Hosts AI agent conversations for browsers, programs and the terminal; asks before the agent changes anything.',
    )
    .version(await readVersion(root))
    .addHelpText('after', EXAMPLES)
    .configureOutput({ outputError: () => undefined }); // `runProgram` prints it once
  return { program, start: addStart(program) };
}

/** Runs the command that the words name. Sets the exit code; a daemon that was started keeps the process alive. */
export async function runProgram(program: Command, words: readonly string[]): Promise<void> {
  const refusing = watchRefusals(program);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    const { text, exitCode } = toReport(error, refusing());
    process.stderr.write(text);
    process.exitCode = exitCode;
    // A connection opened before the failure must not keep the process alive.
    process.exit();
  }
}

/** Returns the words of the command that refused its arguments, such as `cron add`, because the error does not name it. */
function watchRefusals(program: Command): () => string | undefined {
  let refusing: string | undefined;
  const watch = (command: Command, words: readonly string[]): void => {
    command.exitOverride((error) => {
      refusing = words.length === 0 ? undefined : words.join(' ');
      throw error;
    });
    for (const each of command.commands) watch(each, [...words, each.name()]);
  };
  watch(program, []);
  return () => refusing;
}

const EXAMPLES = `
Examples:
  headgate                                    start the daemon; it prints a link to the page
  headgate --workdir ~/src/garden --port 0    start it in another folder, on any free port
  headgate chat                               talk to the agent here
  headgate chat --new --workdir .             start a new conversation about this folder
  headgate chat --continue                    go on with the last conversation in this folder
  headgate run "which files are the largest?"
  git diff | headgate run "review this" -     add the output of another command
  headgate status                             show whether it runs and what waits for you
  headgate usage --by model                   show the tokens and the money of the last 30 days
  headgate doctor                             find out what is wrong
  headgate completion install                 complete commands with Tab in this shell

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no daemon; run also uses 4 denied, 5 timeout, 130 cancelled.
`;

const addStart = (program: Command): Command =>
  program
    .command('start')
    .description('start the daemon (the default command)')
    .option('--port <n>', 'port to listen on; 0 takes any free port (HEADGATE_PORT; default 7717)')
    .option('--host <address>', 'address to listen on (HEADGATE_HOST; default 127.0.0.1)')
    .option('--home <folder>', 'folder that holds everything (HEADGATE_HOME; default ~/.headgate)')
    .option('--workdir <folder>', 'folder the agent works in (HEADGATE_WORKDIR; default <home>/workspace)')
    .option(
      '--model <name>',
      'alias of config.json, or provider/model (HEADGATE_MODEL; default: configured or detected)',
    )
    .option(
      '--standby',
      'wait while another daemon uses the PostgreSQL store, and take over when it ends (HEADGATE_STORE_STANDBY)',
    )
    .option('--worker', 'run workstreams for the active daemon of the PostgreSQL store (HEADGATE_STORE_WORKER)')
    .option('--no-auth', 'require no login; only on a loopback address (SERVICE_AUTH_ENABLED=0)')
    .option('--new-secrets', 'replace the secrets of the database if their key is lost; ends all logins');
