import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { NodeRunFlags } from '../../../node-host/run-node.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import { goOnWithoutReader } from '../../terminal/closed-output.ts';
import type { InvokeFlags, JsonFlags } from './nodes.ts';

interface NodeCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate node`, for the machine that lends commands, and `headgate nodes`, for the daemon's machine. */
export function addNodeCommands(program: Command, { root, around, withTarget }: NodeCommandsDeps): void {
  program
    .command('node')
    .description('lend commands of this machine to a gateway')
    .command('run')
    .description('pair with a gateway and lend commands until stopped')
    .requiredOption('--gateway <address>', 'address of the gateway, such as http://10.0.0.5:7717')
    .option('--name <name>', 'name of this node (default: the host name)')
    .option(
      '--allow <pattern...>',
      'programs that system.run may run, such as "git status" or "journalctl *" (default: none)',
    )
    .option('--folder <folder...>', 'folders that file.read and file.write may access (default: none)')
    .option('--home <folder>', 'folder for the node’s id and tokens (HEADGATE_NODE_HOME; default ~/.headgate-node)')
    .option('--pair', 'forget the token for this gateway and pair again')
    .option('--token <token>', 'token for the gateway, such as one from node.token.rotate')
    .action(async (flags: NodeRunFlags) => {
      goOnWithoutReader();
      await (await import('../../../node-host/run-node.ts')).runNode({ flags, around, root });
    });
  addNodes(program, { root, around, withTarget });
}

function addNodes(program: Command, { root, around, withTarget }: NodeCommandsDeps): void {
  const nodes = program.command('nodes').description('manage the machines that lend commands to the daemon');
  const load = () => import('./nodes.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(nodes, withTarget(nodes.command('list', { isDefault: true })))
    .description('list the paired nodes (the default command)')
    .option('--json', 'print JSON')
    .action(async (flags: JsonFlags) => (await load()).listNodes(on(flags)));
  withTarget(nodes.command('pending'))
    .description('list the machines that ask to be paired, with their codes')
    .option('--json', 'print JSON')
    .action(async (flags: JsonFlags) => (await load()).listPending(on(flags)));
  withTarget(nodes.command('approve'))
    .description('pair a machine by the code that it shows')
    .argument('<code>', 'code that the machine shows, or the id of its request')
    .action(async (which: string, flags: TargetFlags) => (await load()).approveNode(which, on(flags)));
  withTarget(nodes.command('reject'))
    .description('refuse to pair a machine')
    .argument('<code>', 'code that the machine shows, or the id of its request')
    .action(async (which: string, flags: TargetFlags) => (await load()).rejectNode(which, on(flags)));
  withTarget(nodes.command('describe'))
    .description('print one node as JSON')
    .argument('<node>', 'name or id of the node')
    .action(async (which: string, flags: TargetFlags) => (await load()).describeNode(which, on(flags)));
  withTarget(nodes.command('invoke'))
    .description('run a command on a node and print its answer as JSON')
    .argument('<node>', 'name or id of the node')
    .argument('<command>', 'command that the node lends, such as system.info')
    .argument('[params]', 'params of the command, a JSON object')
    .option('--timeout <time>', 'time limit, such as 30s or 5m (default 30s)')
    .option('--key <key>', 'idempotency key: repeating it returns the first answer and runs nothing')
    .action(async (...[node, command, params, flags]: [string, string, string | undefined, InvokeFlags]) =>
      (await load()).invokeNode({ node, command, params }, on(flags)),
    );
  withTarget(nodes.command('revoke'))
    .description('end the pairing of a node and close its connection')
    .argument('<node>', 'name or id of the node')
    .action(async (which: string, flags: TargetFlags) => (await load()).revokeNode(which, on(flags)));
}
