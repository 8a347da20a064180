import type { Command } from 'commander';
import type { Surroundings } from '../home/home-path.ts';
import type { NodeRunFlags } from '../node-host/run-node.ts';
import type { InvokeFlags, JsonFlags } from './commands/nodes.ts';
import type { TargetFlags } from './connect.ts';
import { refuseUnknown } from './default-command.ts';

interface NodeCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that say which daemon is meant. */
  withTarget(command: Command): Command;
}

/** `headgate node`, for the machine that lends, and `headgate nodes`, for the one that borrows. */
export function addNodeCommands(program: Command, { root, around, withTarget }: NodeCommandsDeps): void {
  program
    .command('node')
    .description('this machine as a node: it lends commands to a gateway')
    .command('run')
    .description('pair with a gateway and lend commands until stopped')
    .requiredOption('--gateway <address>', 'where the gateway answers, such as http://10.0.0.5:7717')
    .option('--name <name>', 'what people call this node (default: the host name)')
    .option('--allow <pattern...>', 'programs that system.run may run, such as "git status" or "journalctl *"')
    .option('--folder <folder...>', 'folders whose files file.read and file.write may touch')
    .option('--home <folder>', 'where its id and tokens are kept (HEADGATE_NODE_HOME; default ~/.headgate-node)')
    .option('--pair', 'forget the token for this gateway and ask anew')
    .option('--token <token>', 'a token given by hand, as after node.token.rotate')
    .action(async (flags: NodeRunFlags) => (await import('../node-host/run-node.ts')).runNode({ flags, around, root }));
  addNodes(program, { root, around, withTarget });
}

function addNodes(program: Command, { root, around, withTarget }: NodeCommandsDeps): void {
  const nodes = program.command('nodes').description('machines that lend commands to the daemon');
  const load = () => import('./commands/nodes.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(nodes, withTarget(nodes.command('list', { isDefault: true })))
    .description('list paired nodes (also without a command)')
    .option('--json', 'as JSON')
    .action(async (flags: JsonFlags) => (await load()).listNodes(on(flags)));
  withTarget(nodes.command('pending'))
    .description('show machines that ask to be paired')
    .option('--json', 'as JSON')
    .action(async (flags: JsonFlags) => (await load()).listPending(on(flags)));
  withTarget(nodes.command('approve'))
    .description('pair one, by the code that it shows')
    .argument('<code>', 'its code, or the id of the request')
    .action(async (which: string, flags: TargetFlags) => (await load()).approveNode(which, on(flags)));
  withTarget(nodes.command('reject'))
    .description('refuse one')
    .argument('<code>', 'its code, or the id of the request')
    .action(async (which: string, flags: TargetFlags) => (await load()).rejectNode(which, on(flags)));
  withTarget(nodes.command('describe'))
    .description('show one node as JSON')
    .argument('<node>', 'its name or id')
    .action(async (which: string, flags: TargetFlags) => (await load()).describeNode(which, on(flags)));
  withTarget(nodes.command('invoke'))
    .description('run a command on a node and print its answer as JSON')
    .argument('<node>', 'its name or id')
    .argument('<command>', 'one that it lends, such as system.info')
    .argument('[params]', 'its params, a JSON object')
    .option('--timeout <time>', 'how long it may take, such as 30s or 5m (default 30s)')
    .option('--key <key>', 'a repeat under the same key gets the first answer and runs nothing')
    .action(async (...[node, command, params, flags]: [string, string, string | undefined, InvokeFlags]) =>
      (await load()).invokeNode({ node, command, params }, on(flags)),
    );
  withTarget(nodes.command('revoke'))
    .description('end the pairing of one; its connection ends at once')
    .argument('<node>', 'its name or id')
    .action(async (which: string, flags: TargetFlags) => (await load()).revokeNode(which, on(flags)));
}
