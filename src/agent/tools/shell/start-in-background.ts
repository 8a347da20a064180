import { spanWords } from '../../../../protocol/text/background-words.ts';
import type { StartedCommand } from '../../background/background-commands.ts';
import type { ToolOutcome, ToolRun } from '../tool.ts';
import type { BashArguments, BashDependencies } from './bash-arguments.ts';
import { type BashCall, openCommand } from './open-command.ts';

const BACKGROUND_SECS = 28_800;

/** How long the command may run. */
export const backgroundSecsOf = (args: BashArguments, { live }: BashDependencies): number =>
  args.timeout_secs ?? live?.backgroundMaxSecs ?? BACKGROUND_SECS;

/** Starts it and returns while it runs. It gets everything that a command in the foreground gets. */
export async function startInBackground(
  call: BashCall,
  run: ToolRun,
  dependencies: BashDependencies,
): Promise<ToolOutcome> {
  const { runner, background } = dependencies;
  const { wsId, callId } = call.context;
  const timeoutSecs = backgroundSecsOf(call.args, dependencies);
  const { command, network } = await openCommand(call, run, { dependencies, timeoutSecs });
  run.signal.throwIfAborted();
  const started = await background.start({
    wsId,
    callId,
    command: command.command,
    timeoutMs: command.timeoutMs,
    taint: run.taint,
    run: (hooks) => runner.run(command, hooks),
    refused: () => network?.refused() ?? [],
  });
  return toStarted(started, timeoutSecs);
}

/** The result of a call that starts a command in the background. */
function toStarted(started: StartedCommand, timeoutSecs: number): ToolOutcome {
  if (started.kind === 'refused') return { output: started.reason, outcome: 'failed' };
  const { id } = started.run;
  return {
    output: `It runs in the background as ${id}, for at most ${spanWords(timeoutSecs * 1_000)}. bash_output with bash_id "${id}" shows its output and waits for it; kill_shell ends it.`,
    outcome: 'done',
  };
}
