import { z } from 'zod';
import { endWords, spanWords } from '../../../../protocol/text/background-words.ts';
import type { BackgroundCommands } from '../../background/background-commands.ts';
import type { Tool, ToolContext, ToolOutcome, ToolRun } from '../tool.ts';
import { BashId, toUnknown } from './bash-id.ts';

const KillShellArguments = z.strictObject({ bash_id: BashId });
type KillShellArguments = z.infer<typeof KillShellArguments>;

/** Ends a background command of the conversation. It needs no approval: the agent started the command itself. */
export function createKillShellTool(background: BackgroundCommands): Tool<KillShellArguments> {
  return {
    name: 'kill_shell',
    description:
      'Ends a background command with everything that it has started (SIGTERM, then SIGKILL after half a second), and shows its last output.',
    parameters: KillShellArguments,
    readOnly: false,
    safeToRepeat: true,
    prepare: async ({ bash_id: commandId }, context) => ({
      kind: 'ready',
      subject: commandId,
      preview: '',
      approvalLabel: 'kill_shell',
      needsApproval: false,
      execute: (run) => kill(commandId, run, { background, context }),
    }),
  };
}

async function kill(
  commandId: string,
  { maxOutputBytes }: ToolRun,
  { background, context: { wsId } }: { background: BackgroundCommands; context: ToolContext },
): Promise<ToolOutcome> {
  const run = background.find(wsId, commandId);
  if (!run) {
    const ended = await background.read(wsId, commandId);
    return ended ? { output: `It had ended before: ${endWords(ended.state)}.`, outcome: 'done' } : toUnknown(commandId);
  }
  await run.stop('killed');
  const printed = run.takeNew(maxOutputBytes);
  const status = `[${endWords(run.state)}, after ${spanWords(run.ranMs)}]`;
  await background.told(run);
  const lines = printed === '' || printed.endsWith('\n') ? printed : `${printed}\n`;
  return { output: `${lines}${status}`, outcome: 'done', guarded: run.guarded, ...(run.taint && { taint: run.taint }) };
}
