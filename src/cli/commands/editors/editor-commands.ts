import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { AcpFlags } from './acp.ts';

interface EditorCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

const HELP = `
Editors start this command; stdin and stdout carry the protocol, and what goes wrong is printed to stderr. It needs a running
daemon (headgate start). In Zed, add to settings.json:

  "agent_servers": { "Headgate": { "command": "headgate", "args": ["acp"] } }
`;

/** Adds `headgate acp`, for editors. */
export function addEditorCommands(program: Command, { root, around, withTarget }: EditorCommandsDeps): void {
  withTarget(program.command('acp'))
    .description('serve an editor over stdin and stdout (Agent Client Protocol)')
    .option('--model <name>', 'model of new sessions')
    .addHelpText('after', HELP)
    .action(async (flags: AcpFlags) => (await import('./acp.ts')).serveEditor({ flags, around, root }));
}
