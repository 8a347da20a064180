import { homedir } from 'node:os';
import { Command, Option } from 'commander';
import type { StartFlags } from '../daemon/start.ts';
import { useCompileCache } from '../home/compile-cache.ts';
import { resolveHome, type Surroundings } from '../home/home-path.ts';
import { readVersion } from '../version.ts';
import type { ChatFlags } from './commands/chat.ts';
import type { ConformanceFlags } from './commands/conformance.ts';
import type { DoctorFlags } from './commands/doctor.ts';
import type { RunFlags } from './commands/run.ts';
import type { StatusFlags } from './commands/status.ts';
import type { CreateFlags } from './commands/token.ts';
import type { TargetFlags } from './connect.ts';
import { addCronCommands } from './cron-commands.ts';
import { addNodeCommands } from './node-commands.ts';
import { toReport } from './report-error.ts';
import { APPROVE_CHOICES } from './run/approval-policy.ts';
import { COLOUR_CHOICES } from './terminal/paint.ts';

interface Invocation {
  argv: readonly string[];
  /** The package's folder: package.json and dist/ lie in it. */
  root: URL;
}

/** The command line. Sets the exit code; a daemon that was started keeps the process alive. */
export async function main({ argv, root }: Invocation): Promise<void> {
  const around = { environment: process.env, userHome: homedir(), cwd: process.cwd() };
  const program = createProgram({ root, around, version: await readVersion(root) });
  try {
    await program.parseAsync(withCommand(argv), { from: 'user' });
  } catch (error) {
    const command = program.commands.find((each) => each.name() === argv[0]);
    const { text, exitCode } = toReport(error, command?.name());
    process.stderr.write(text);
    process.exitCode = exitCode;
    // What was opened before the failure must not keep a process alive that has nothing to do.
    process.exit();
  }
}

const EXAMPLES = `
Examples:
  headgate                                    start the daemon; it prints a link to the page
  headgate --workdir ~/src/garden --port 0    with another folder, on any free port
  headgate chat                               talk to the agent here
  headgate chat --new --workdir .             a new conversation about this folder
  headgate run "which files are the largest?"
  git diff | headgate run "review this" -     with what comes through the pipe
  headgate status                             is it running, and does something wait for me?
  headgate doctor                             something is wrong, but what?

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no daemon; of run also 4 denied, 5 timeout, 130 cancelled.
`;

/** `headgate` alone starts the daemon, and so does `headgate --port 0`. */
function withCommand(argv: readonly string[]): string[] {
  const [first] = argv;
  const isAboutAll = first !== undefined && ['--help', '-h', '--version', '-V'].includes(first);
  return first === undefined || (first.startsWith('-') && !isAboutAll) ? ['start', ...argv] : [...argv];
}

/** What a shell says of a program that wrote to a pipe nobody reads any more. */
const READER_GONE = 141;

interface ProgramDeps {
  root: URL;
  around: Surroundings;
  version: string;
}

/** Each command's code is loaded when it runs: `link` needs no daemon's worth of modules. */
function createProgram({ root, around, version }: ProgramDeps): Command {
  const program = new Command('headgate')
    .description('Hosts AI agent conversations for browsers, programs and the terminal; asks before it acts.')
    .version(version)
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({ outputError: () => undefined }); // told once, by `main`
  addStart(program, async (flags) => {
    useCompileCache({ home: resolveHome(flags, around), root });
    await (await import('../daemon/start.ts')).start({ flags, around, root });
  });
  addChat(program, async (flags) => (await import('./commands/chat.ts')).chat({ flags, around, root }));
  addRun(program, async (prompts, flags) => (await import('./commands/run.ts')).run({ prompts, flags, around, root }));
  withTarget(program.command('status'))
    .description('say whether the daemon runs, how it is and what waits for you')
    .option('--json', 'as one JSON object')
    .action(async (flags: StatusFlags) => (await import('./commands/status.ts')).status({ flags, around, root }));
  program
    .command('doctor')
    .description('look for what could be wrong on this machine, and say how to mend it; changes nothing')
    .option('--home <folder>', 'the home folder to look at (HEADGATE_HOME; default ~/.headgate)')
    .option('--json', 'as one JSON object')
    .action(async (flags: DoctorFlags) => (await import('./commands/doctor.ts')).doctor({ flags, around, root }));
  withTarget(program.command('call'))
    .description('call one method of the running daemon and print its result')
    .argument('<method>', 'its name, such as workstream.list')
    .argument('[params]', 'its params, a JSON object')
    .action(async (method: string, params: string | undefined, flags: TargetFlags) =>
      (await import('./commands/call.ts')).call({ method, params, flags, around, root }),
    );
  withTarget(program.command('link'))
    .description('print a link that logs a browser in, once')
    .action(async (flags: TargetFlags) => (await import('./commands/link.ts')).link({ flags, around, root }));
  addConformance(program);
  addToken(program, { root, around });
  addNodeCommands(program, { root, around, withTarget });
  addCronCommands(program, { root, around, withTarget });
  return program;
}

function addConformance(program: Command): void {
  program
    .command('conformance')
    .description('try the gateway protocol against a server and print what of it holds')
    .argument('<url>', 'where it answers, such as http://127.0.0.1:7717')
    .option('--token <token>', 'one that may approve sees most (HEADGATE_TOKEN)')
    .option('--json', 'as one JSON object')
    .action(async (url: string, flags: ConformanceFlags) =>
      (await import('./commands/conformance.ts')).conformance(url, flags),
    );
}

function addToken(program: Command, { root, around }: Omit<ProgramDeps, 'version'>): void {
  const token = program
    .command('token')
    .description('API tokens: credentials of programs, each with a scope of its own');
  const load = () => import('./commands/token.ts');
  withTarget(token.command('create'))
    .description('make one; it is printed once and kept nowhere')
    .requiredOption('--scope <scope>', 'read, write or approve; each includes those before it')
    .option('--name <name>', 'what it is for, to find it again')
    .option('--expires <time>', 'such as 12h, 30d or 8w; left out: it does not expire')
    .action(async (flags: CreateFlags) => (await load()).createToken({ flags, around, root }));
  withTarget(token.command('list'))
    .description('list those that were not revoked')
    .option('--json', 'as JSON')
    .action(async (flags: TargetFlags) => (await load()).listTokens({ flags, around, root }));
  withTarget(token.command('revoke'))
    .description('revoke one; open connections under it end')
    .argument('<token>', 'its name or id')
    .action(async (which: string, flags: TargetFlags) => (await load()).revokeToken(which, { flags, around, root }));
}

function addStart(program: Command, run: (flags: StartFlags) => Promise<void>): void {
  program
    .command('start')
    .description('start the daemon (what `headgate` alone does)')
    .option('--port <n>', 'where to listen; 0 takes any free port (HEADGATE_PORT; default 7717)')
    .option('--host <address>', 'on which address (HEADGATE_HOST; default 127.0.0.1)')
    .option('--home <folder>', 'where everything is kept (HEADGATE_HOME; default ~/.headgate)')
    .option('--workdir <folder>', 'where the agent works (HEADGATE_WORKDIR; default <home>/workspace)')
    .option('--model <name>', 'an alias of config.json, or provider/model (HEADGATE_MODEL)')
    .option('--no-auth', 'ask nobody who they are; only on a loopback address (SERVICE_AUTH_ENABLED=0)')
    .action(run);
}

function addChat(program: Command, run: (flags: ChatFlags) => Promise<void>): void {
  withTarget(program.command('chat'))
    .description('talk to the agent in this terminal')
    .option('--ws <name>', 'the workstream: a name, a session key, an id or its beginning (default: main)')
    .option('--new', 'begin a new workstream, called as --ws says')
    .option('--workdir <folder>', 'where the agent of a new workstream works')
    .option('--model <name>', 'the model of a new workstream')
    .addOption(new Option('--color <when>', 'colours').choices(COLOUR_CHOICES).default('auto'))
    .action(run);
}

function addRun(program: Command, action: (prompts: string[], flags: RunFlags) => Promise<void>): void {
  withTarget(program.command('run'))
    .description('give the agent one task and print its answer')
    .argument('[prompt...]', 'what to do; - stands for what stdin holds')
    .option('--ws <name>', 'a workstream, made where nobody has it (default: one of its own)')
    .option('--json', 'print one JSON object per line: run, the events, result')
    .addOption(new Option('--approve <how>', 'what needs approval').choices(APPROVE_CHOICES).default('ask'))
    .option('--timeout <seconds>', 'cancel the run after this time')
    .option('--attach <file...>', 'images or text files that go with it')
    .option('--workdir <folder>', 'where the agent of a new workstream works')
    .option('--model <name>', 'the model of a new workstream')
    .option('--key <key>', 'the same key again joins the same run instead of starting another')
    .action(action);
}

function withTarget(command: Command): Command {
  return command
    .option('--home <folder>', 'the home folder of the daemon (HEADGATE_HOME; default ~/.headgate)')
    .option('--url <address>', 'where a daemon answers (HEADGATE_URL)')
    .option('--token <token>', 'its token (HEADGATE_TOKEN; default: that of the home folder)')
    .option('--token-file <file>', 'a file that holds the token')
    .hook('preAction', () => void process.stdout.on('error', () => process.exit(READER_GONE)));
}
