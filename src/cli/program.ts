import { type Command, Option } from 'commander';
import { MODES } from '../../protocol/events/modes.ts';
import type { Surroundings } from '../home/home-path.ts';
import { createProgram, type Invocation, runProgram } from './base-program.ts';
import { addAccountCommands } from './commands/accounts/account-commands.ts';
import { addAgentCommands } from './commands/agents/agent-commands.ts';
import { addBackgroundCommands } from './commands/background/background-commands.ts';
import { addWatchCommands } from './commands/background/watch-commands.ts';
import { addChangeCommands } from './commands/changes/change-commands.ts';
import { addChannelCommands } from './commands/channels/channel-commands.ts';
import type { ChatFlags } from './commands/chat.ts';
import { addClusterCommands } from './commands/cluster/cluster-commands.ts';
import { addCompletionCommands } from './commands/completion/completion-commands.ts';
import type { ConformanceFlags } from './commands/conformance.ts';
import { addCoordinatorCommands } from './commands/coordinators/coordinator-commands.ts';
import type { DoctorFlags } from './commands/doctor.ts';
import { addEditorCommands } from './commands/editors/editor-commands.ts';
import { addInstallationCommands } from './commands/installation/installation-commands.ts';
import { addMcpCommands } from './commands/mcp/mcp-commands.ts';
import { addMemoryCommands } from './commands/memory/memory-commands.ts';
import { addNodeCommands } from './commands/nodes/node-commands.ts';
import { addPlanCommands } from './commands/plans/plan-commands.ts';
import type { RunFlags } from './commands/run.ts';
import type { SandboxFlags } from './commands/sandbox.ts';
import { addSkillCommands } from './commands/skill/skill-commands.ts';
import type { StatusFlags } from './commands/status.ts';
import { addStoreCommands } from './commands/store/store-commands.ts';
import type { CreateFlags } from './commands/token.ts';
import type { UsageFlags } from './commands/usage.ts';
import { USAGE_GROUPINGS } from './commands/usage-groupings.ts';
import { addWatchingCommands } from './commands/watching/watching-commands.ts';
import type { TargetFlags } from './connect.ts';
import { addCronCommands } from './cron-commands.ts';
import { addPolicyCommands, addRecordCommands, addRuleCommands } from './policy-commands.ts';
import { addPortableCommands } from './portable-commands.ts';
import { APPROVE_CHOICES } from './run/approval-policy.ts';
import { addSecretsCommands, addSettingsCommands } from './settings-commands.ts';
import { endWithReader } from './terminal/closed-output.ts';
import { COLOUR_CHOICES } from './terminal/paint.ts';

/** Runs one command of the command line, except `start`, which is only described here. */
export async function runCommand({ words, around, root }: Invocation): Promise<void> {
  endWithReader();
  await runProgram(await createWholeProgram({ around, root }), words);
}

/** Every command with its options. Running `start` is not part of it. */
export async function createWholeProgram(where: Omit<Invocation, 'words'>): Promise<Command> {
  const { program } = await createProgram(where.root);
  addOthers(program, where);
  return program;
}

/** Each command's modules are loaded only when it runs, so that small ones such as `link` start fast. */
function addOthers(program: Command, { root, around }: Omit<Invocation, 'words'>): void {
  addChat(program, async (flags) => (await import('./commands/chat.ts')).chat({ flags, around, root }));
  addRun(program, async (prompts, flags) => (await import('./commands/run.ts')).run({ prompts, flags, around, root }));
  withTarget(program.command('status'))
    .description('show whether the daemon runs, its state, and what waits for you')
    .option('--json', 'print one JSON object')
    .action(async (flags: StatusFlags) => (await import('./commands/status.ts')).status({ flags, around, root }));
  program
    .command('doctor')
    .description('find problems on this machine and suggest fixes; changes nothing')
    .option('--home <folder>', 'home folder to check (HEADGATE_HOME; default ~/.headgate)')
    .option('--json', 'print one JSON object')
    .action(async (flags: DoctorFlags) => (await import('./commands/doctor.ts')).doctor({ flags, around, root }));
  addSandbox(program, around);
  addInstallationCommands(program, { root, around, withTarget });
  addStoreCommands(program, around);
  addClusterCommands(program, { root, around, withTarget });
  withTarget(program.command('call'))
    .description('call one method of the running daemon and print its result')
    .argument('<method>', 'name of the method, such as workstream.list')
    .argument('[params]', 'params of the method, a JSON object')
    .action(async (method: string, params: string | undefined, flags: TargetFlags) =>
      (await import('./commands/call.ts')).call({ method, params, flags, around, root }),
    );
  withTarget(program.command('link'))
    .description('print a link that logs one browser in, once')
    .action(async (flags: TargetFlags) => (await import('./commands/link.ts')).link({ flags, around, root }));
  addWatchingCommands(program, { root, around, withTarget });
  addUsage(program, { root, around });
  addConformance(program);
  addToken(program, { root, around });
  addPortableCommands(program, { root, around, withTarget });
  addEditorCommands(program, { root, around, withTarget });
  addMcpCommands(program, { root, around, withTarget });
  addAgentCommands(program, { root, around, withTarget });
  addBackgroundCommands(program, { root, around, withTarget });
  addChangeCommands(program, { root, around, withTarget });
  addPlanCommands(program, { root, around, withTarget });
  addWatchCommands(program, { root, around, withTarget });
  addCoordinatorCommands(program, { root, around, withTarget });
  addMemoryCommands(program, { root, around, withTarget });
  addSkillCommands(program, { root, around, withTarget });
  addNodeCommands(program, { root, around, withTarget });
  addChannelCommands(program, { root, around, withTarget });
  addAccountCommands(program, { root, around, withTarget });
  addPolicyCommands(program, { root, around, withTarget });
  addRuleCommands(program, { root, around, withTarget });
  addRecordCommands(program, { root, around, withTarget });
  addSecretsCommands(program, { root, around, withTarget });
  addSettingsCommands(program, { root, around, withTarget });
  addCronCommands(program, { root, around, withTarget });
  addCompletionCommands(program, { around });
}

function addUsage(program: Command, { root, around }: Omit<Invocation, 'words'>): void {
  withTarget(program.command('usage'))
    .description('show the tokens that models used, and what they cost')
    .addOption(new Option('--by <key>', 'add up by').choices(USAGE_GROUPINGS).default('day'))
    .option('--days <n>', 'how many days (UTC), with today', '30')
    .option('--json', 'print one JSON object')
    .action(async (flags: UsageFlags) => (await import('./commands/usage.ts')).usage({ flags, around, root }));
}

function addSandbox(program: Command, around: Surroundings): void {
  program
    .command('sandbox')
    .description('the sandbox of commands')
    .command('check', { isDefault: true })
    .description('try every part of the sandbox on this machine and suggest fixes; changes nothing')
    .option('--home <folder>', 'home folder whose settings count (HEADGATE_HOME; default ~/.headgate)')
    .option('--json', 'print one JSON object')
    .action(async (flags: SandboxFlags) => (await import('./commands/sandbox.ts')).checkSandbox({ flags, around }));
}

function addConformance(program: Command): void {
  program
    .command('conformance')
    .description('test how much of the gateway protocol a server implements')
    .argument('<url>', 'address of the server, such as http://127.0.0.1:7717')
    .option('--token <token>', 'token for the server; the approve scope covers the most (HEADGATE_TOKEN)')
    .option('--json', 'print one JSON object')
    .action(async (url: string, flags: ConformanceFlags) =>
      (await import('./commands/conformance.ts')).conformance(url, flags),
    );
}

function addToken(program: Command, { root, around }: Omit<Invocation, 'words'>): void {
  const token = program.command('token').description('manage API tokens for programs, each with its own scope');
  const load = () => import('./commands/token.ts');
  withTarget(token.command('create'))
    .description('create a token and print it; it cannot be shown again')
    .requiredOption(
      '--scope <scope>',
      'read, write or approve, each with the ones before it; or service, for another machine',
    )
    .option('--name <name>', 'what the token is for (default: the scope and a random suffix)')
    .option('--expires <time>', 'when the token expires, such as 12h, 30d or 8w (default: never; a service token: 1h)')
    .action(async (flags: CreateFlags) => (await load()).createToken({ flags, around, root }));
  withTarget(token.command('list'))
    .description('list the tokens that are not revoked')
    .option('--json', 'print JSON')
    .action(async (flags: TargetFlags) => (await load()).listTokens({ flags, around, root }));
  withTarget(token.command('revoke'))
    .description('revoke a token and close its connections')
    .argument('<token>', 'name or id of the token')
    .action(async (which: string, flags: TargetFlags) => (await load()).revokeToken(which, { flags, around, root }));
}

function addChat(program: Command, run: (flags: ChatFlags) => Promise<void>): void {
  withTarget(program.command('chat'))
    .alias('tui')
    .description('talk to the agent in this terminal')
    .option('--ws <name>', 'workstream: a name, a session key, an id or its beginning (default: main)')
    .option('--new', 'start a new workstream, named by --ws')
    .option('--resume <name>', 'go on with this conversation, also a closed one')
    .option('--continue', 'go on with the last conversation in this folder')
    .option('--workdir <folder>', 'folder the agent of a new workstream works in')
    .option('--model <name>', 'model of a new workstream')
    .addOption(modeOption())
    .option('--machine-label <label>', 'label that the machine of a new workstream needs; can be repeated', toList)
    .addOption(new Option('--color <when>', 'when to use colours').choices(COLOUR_CHOICES).default('auto'))
    .action(run);
}

const modeOption = () => new Option('--mode <mode>', 'what a new workstream runs without asking').choices(MODES);

function addRun(program: Command, action: (prompts: string[], flags: RunFlags) => Promise<void>): void {
  withTarget(program.command('run'))
    .description('give the agent one task and print its answer')
    .argument('[prompt...]', 'task; - stands for the content of stdin (default: stdin)')
    .option('--ws <name>', 'workstream to use, created if necessary (default: a new one for this run)')
    .option('--resume <name>', 'go on with this conversation; it must exist')
    .option('--continue', 'go on with the last conversation in this folder')
    .option('--json', 'print one JSON object per line: run, the events, result')
    .addOption(new Option('--approve <how>', 'how to answer approvals').choices(APPROVE_CHOICES).default('ask'))
    .option('--answer <text>', 'answer a question of the agent, by text or number; can be repeated', toList)
    .option('--timeout <seconds>', 'cancel the run after this time (default: never)')
    .option('--attach <file>', 'attach an image or a text file; can be repeated', toList)
    .option('--schema <file>', 'JSON Schema that the answer has to fit; prints the data')
    .addOption(new Option('--output-schema <file>', 'the same as --schema').conflicts('schema'))
    .option('--workdir <folder>', 'folder the agent of a new workstream works in')
    .option('--model <name>', 'model of a new workstream')
    .addOption(modeOption())
    .option('--machine-label <label>', 'label that the machine of a new workstream needs; can be repeated', toList)
    .option('--key <key>', 'idempotency key: repeating it joins the same run')
    .action(action);
}

/** Collects the values of an option that can be repeated. An option that takes several words would take the task, too. */
const toList = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];

function withTarget(command: Command): Command {
  return command
    .option('--home <folder>', 'home folder of the daemon (HEADGATE_HOME; default ~/.headgate)')
    .option('--url <address>', 'address of the daemon (HEADGATE_URL)')
    .option('--token <token>', 'token for the daemon (HEADGATE_TOKEN; default: the token of the home folder)')
    .option('--token-file <file>', 'file that contains the token');
}
