import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { AgentListFlags } from './agents.ts';

interface AgentCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate agents`, for sub-agents. */
export function addAgentCommands(program: Command, { root, around, withTarget }: AgentCommandsDeps): void {
  const agents = program.command('agents').description('see and cancel sub-agents');
  const load = () => import('./agents.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(agents, withTarget(agents.command('list', { isDefault: true })))
    .description('list the sub-agents that have not ended, as a tree (the default command)')
    .option('--workstream <name>', 'only those of one workstream (name or id), also ended ones')
    .option('--json', 'print JSON')
    .action(async (flags: AgentListFlags) => (await load()).listAgents(on(flags)));
  withTarget(agents.command('show'))
    .description('print the task of a sub-agent, what it said, and its calls')
    .argument('<agent>', 'id of the sub-agent')
    .option('--json', 'print JSON')
    .action(async (id: string, flags: AgentListFlags) => (await load()).showAgent(id, on(flags)));
  withTarget(agents.command('cancel'))
    .description('stop a sub-agent with its own sub-agents; its run goes on')
    .argument('<agent>', 'id of the sub-agent')
    .action(async (id: string, flags: TargetFlags) => (await load()).cancelAgent(id, on(flags)));
}
