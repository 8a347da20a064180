import type { CommandReading } from '../../permissions/command-reading.ts';
import type { ProcessRunner, ShellCommand } from '../../process/runner.ts';
import { type CommandNetwork, mayUseNetwork, mayWrite, openCommandNetwork } from '../../sandbox/command-network.ts';
import type { ToolContext, ToolRun } from '../tool.ts';
import type { BashArguments, BashDependencies } from './bash-arguments.ts';

/** A prepared call of `bash`. */
export interface BashCall {
  args: BashArguments;
  context: ToolContext;
  reading: CommandReading;
}

interface CommandOptions {
  dependencies: BashDependencies;
  timeoutSecs: number;
}

/** The command with its network and what it may write, as the call was allowed. */
export async function openCommand(
  call: BashCall,
  run: ToolRun,
  { dependencies, timeoutSecs }: CommandOptions,
): Promise<{ command: ShellCommand; network: CommandNetwork | undefined }> {
  const { wsId, callId, workdir } = call.context;
  const isOutside = leavesSandbox(call.args, dependencies.runner);
  if (isOutside) dependencies.audit?.onOutside({ wsId, callId });
  const network = isOutside ? undefined : await openNetwork(call, run, dependencies);
  return {
    network,
    command: {
      command: call.args.command,
      folder: workdir.folder,
      timeoutMs: timeoutSecs * 1_000,
      isOutside,
      network,
      access: accessOf(call, run, dependencies),
    },
  };
}

const accessOf = ({ context: { workdir }, reading }: BashCall, { grants }: ToolRun, { live }: BashDependencies) => ({
  others: workdir.readable,
  areOthersReadOnly: grants?.writesAdded !== true,
  tier: mayWrite(reading) ? (live?.sandboxTier ?? 'workspace') : ('read-only' as const),
  writable: grants?.protectedPaths ?? [],
});

const leavesSandbox = (args: BashArguments, { sandbox }: ProcessRunner): boolean =>
  args.sandbox === 'off' && sandbox.kind !== 'none';

async function openNetwork(
  { args: { command }, context: { wsId, callId, workdir, hosts }, reading }: BashCall,
  { grants }: ToolRun,
  { runner, guard, live, audit }: BashDependencies,
): Promise<CommandNetwork | undefined> {
  if (runner.sandbox.kind === 'none' || !mayUseNetwork(reading)) return undefined;
  return openCommandNetwork(reading, workdir, {
    allowedHosts: () => live?.allowedHosts ?? [],
    granted: grants?.hosts ?? [],
    ruleOn: (host) => hosts?.ruleOn({ command, reading }, host),
    onConnection: (connection) =>
      audit?.onConnection({ ...connection, host: guard.clean(connection.host), wsId, callId }),
  });
}
