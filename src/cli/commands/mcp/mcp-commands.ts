import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { McpFlags } from './mcp.ts';

interface McpCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate mcp`, for the tool servers of the daemon. */
export function addMcpCommands(program: Command, { root, around, withTarget }: McpCommandsDeps): void {
  const mcp = program.command('mcp').description('see the tool servers (MCP) of the daemon, and accept their tools');
  const load = () => import('./mcp.ts');
  const loadAccounts = () => import('./mcp-consent.ts');
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
    .action(async (name: string, tool: string | undefined, flags: TargetFlags) =>
      (await load()).acceptTools({ name, ...(tool !== undefined && { tool }) }, on(flags)),
    );
  withTarget(mcp.command('accounts'))
    .description('list the accounts that you have connected to tool servers')
    .option('--json', 'print JSON')
    .action(async (flags: McpFlags) => (await loadAccounts()).listAccounts(on(flags)));
  withTarget(mcp.command('login'))
    .description('connect an account of yours to a server, in a browser')
    .argument('<server>', 'name of the server')
    .action(async (name: string, flags: TargetFlags) => (await loadAccounts()).logIn(name, on(flags)));
  withTarget(mcp.command('logout'))
    .description('disconnect your account from a server')
    .argument('<server>', 'name of the server')
    .action(async (name: string, flags: TargetFlags) => (await loadAccounts()).logOut(name, on(flags)));
  withTarget(mcp.command('revoke'))
    .description('disconnect the accounts of all users from a server')
    .argument('<server>', 'name of the server')
    .action(async (name: string, flags: TargetFlags) => (await loadAccounts()).revokeAll(name, on(flags)));
}
