import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { McpFlags } from './mcp-call.ts';
import type { AddFlags, ImportFlags, ShowFlags } from './mcp-change.ts';
import type { InstallFlags, SearchFlags } from './mcp-registry.ts';

interface McpCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate mcp`, for the tool servers of the daemon. */
export function addMcpCommands(program: Command, { root, around, withTarget }: McpCommandsDeps): void {
  const mcp = program
    .command('mcp')
    .description('see, add and install the tool servers (MCP) of the daemon, and accept their tools');
  const load = () => import('./mcp.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(mcp, withTarget(mcp.command('list', { isDefault: true })))
    .description('list the servers with their state (the default command)')
    .option('--json', 'print JSON')
    .action(async (flags: McpFlags) => (await load()).listServers(on(flags)));
  withTarget(mcp.command('tools'))
    .description('list the tools of a server, and what has changed since they were accepted')
    .argument('<server>', 'name of the server')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: McpFlags) => (await load()).listTools(name, on(flags)));
  withTarget(mcp.command('refresh'))
    .description('start a server if needed, and ask it for its tools')
    .argument('<server>', 'name of the server')
    .action(async (name: string, flags: TargetFlags) => (await load()).refreshServer(name, on(flags)));
  withTarget(mcp.command('accept'))
    .description('accept the tools of a server as it describes them now')
    .argument('<server>', 'name of the server')
    .argument('[tool]', 'only this tool, as the server calls it')
    .option('--digest <sha256>', 'accept only the change with this digest, as "mcp tools" prints it')
    .action(async (name: string, tool: string | undefined, flags: TargetFlags & { digest?: string }) =>
      (await load()).acceptTools({ name, ...(tool !== undefined && { tool }) }, on(flags)),
    );
  addChanges(mcp, { root, around, withTarget });
  addRegistry(mcp, { root, around, withTarget });
  addAccounts(mcp, { root, around, withTarget });
}

const ADD_HELP = `
Examples:
  headgate mcp add notes --env NOTES_TOKEN --network api.notes.example -- npx -y my-notes-server
  headgate mcp add tracker https://tracker.example/mcp --header 'Authorization: Bearer ...'
`;

/** Servers that are kept in the database. */
function addChanges(mcp: Command, { root, around, withTarget }: McpCommandsDeps): void {
  const load = () => import('./mcp-change.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  withTarget(mcp.command('add'))
    .description('add a server: a command behind --, or an address')
    .argument('<name>', 'name of the server, the beginning of the names of its tools')
    .argument('[command...]', 'the program and its arguments, or the address')
    .option('--address <url>', 'address of a server elsewhere (streamable HTTP)')
    .option('--header <pair>', 'a header of requests, NAME=VALUE or NAME: VALUE; can be repeated', toList)
    .option('--oauth', 'each person uses it with an account of their own')
    .option('--scope <scope>', 'a right to ask for, with --oauth; can be repeated', toList)
    .option('--client-id <id>', 'the client, with --oauth, if it was registered by hand')
    .option('--issuer <url>', 'the provider that this client is registered with')
    .option('--client-secret <name>', 'the variable of this shell that holds its secret')
    .option('--env <pair>', 'a variable, NAME=VALUE, or NAME of this shell; can be repeated', toList)
    .option('--network <host>', 'a host that it may connect to; can be repeated', toList)
    .option('--folder <folder>', 'a folder that it may read; can be repeated', toList)
    .option('--writes-folders', 'it may change these folders, too')
    .option('--no-sandbox', 'run it outside the sandbox, where the machine has none')
    .option('--auto-approve', 'its tools run unasked')
    .option('--disabled', 'do not use it yet')
    .option('--timeout <seconds>', 'time limit of one call')
    .addHelpText('after', ADD_HELP)
    .action(async (name: string, program: string[], flags: AddFlags) =>
      (await load()).addServer(name, program, on(flags)),
    );
  withTarget(mcp.command('show'))
    .description('show a server with its settings; secrets are masked')
    .argument('<server>', 'name of the server')
    .option('--reveal', 'show its secrets, if it is kept in the database; this is recorded')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: ShowFlags) => (await load()).showServer(name, on(flags)));
  withTarget(mcp.command('remove'))
    .description('remove a server that is kept in the database')
    .argument('<server>', 'name of the server')
    .action(async (name: string, flags: TargetFlags) => (await load()).removeServer(name, on(flags)));
  for (const [word, enabled] of Object.entries({ enable: true, disable: false }))
    withTarget(mcp.command(word))
      .description(`${word} a server that is kept in the database`)
      .argument('<server>', 'name of the server')
      .action(async (name: string, flags: TargetFlags) => (await load()).switchServer(name, enabled, on(flags)));
  withTarget(mcp.command('import'))
    .description('add the servers of a file of another program, an object with mcpServers')
    .argument('<file>', 'the file; - is the standard input')
    .option('--dry-run', 'check everything and add nothing')
    .action(async (file: string, flags: ImportFlags) => (await load()).importServers(file, on(flags)));
  withTarget(mcp.command('reload'))
    .description('ask servers again that have failed, or start one again when its calls have ended')
    .argument('[server]', 'name of the server')
    .action(async (name: string | undefined, flags: TargetFlags) => (await load()).reloadServers(name, on(flags)));
}

/** The registry of tool servers. */
function addRegistry(mcp: Command, { root, around, withTarget }: McpCommandsDeps): void {
  const load = () => import('./mcp-registry.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  withTarget(mcp.command('search'))
    .description('search the registry of tool servers')
    .argument('[words...]', 'what to look for')
    .option('--type <type>', 'only servers of this type: remote, npm or pypi')
    .option('--limit <n>', 'how many (30)')
    .option('--cursor <cursor>', 'the next page')
    .option('--json', 'print JSON')
    .action(async (words: string[], flags: SearchFlags) => (await load()).searchServers(words, on(flags)));
  withTarget(mcp.command('install'))
    .description('add a server of the registry, in exactly one version')
    .argument('<server>', 'its name in the registry')
    .option('--package [index]', 'which of its packages (0)')
    .option('--remote [index]', 'which of its addresses, instead of a package')
    .option('--name <name>', 'name of the server here')
    .option('--pin <version>', 'its version in the registry (the latest one)')
    .option('--digest <sha256>', 'install only the entry with this digest')
    .option('--var <pair>', 'a value that the server asks for, NAME=VALUE; can be repeated', toList)
    .option('--env <pair>', 'a variable, NAME=VALUE, or NAME of this shell; can be repeated', toList)
    .option('--header <pair>', 'a header of requests, NAME=VALUE; can be repeated', toList)
    .option('--network <host>', 'a host that it may connect to; can be repeated', toList)
    .action(async (name: string, flags: InstallFlags) => (await load()).installServer(name, on(flags)));
}

/** The caller's accounts at tool servers. */
function addAccounts(mcp: Command, { root, around, withTarget }: McpCommandsDeps): void {
  const load = () => import('./mcp-consent.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  withTarget(mcp.command('accounts'))
    .description('list the accounts that you have connected to tool servers')
    .option('--json', 'print JSON')
    .action(async (flags: McpFlags) => (await load()).listAccounts(on(flags)));
  withTarget(mcp.command('login'))
    .description('connect an account of yours to a server, in a browser')
    .argument('<server>', 'name of the server')
    .action(async (name: string, flags: TargetFlags) => (await load()).logIn(name, on(flags)));
  withTarget(mcp.command('logout'))
    .description('disconnect your account from a server')
    .argument('<server>', 'name of the server')
    .action(async (name: string, flags: TargetFlags) => (await load()).logOut(name, on(flags)));
  withTarget(mcp.command('revoke'))
    .description('disconnect the accounts of all users from a server')
    .argument('<server>', 'name of the server')
    .action(async (name: string, flags: TargetFlags) => (await load()).revokeAll(name, on(flags)));
}

const toList = (value: string, before: string[] = []): string[] => [...before, value];
