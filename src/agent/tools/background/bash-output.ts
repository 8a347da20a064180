import { z } from 'zod';
import { endWords, spanWords } from '../../../../protocol/text/background-words.ts';
import type { BackgroundCommands } from '../../background/background-commands.ts';
import type { BackgroundRun } from '../../background/background-run.ts';
import { StopReason } from '../../stop-reason.ts';
import { outcomeOf, toStopLine } from '../stop-line.ts';
import type { Tool, ToolContext, ToolOutcome, ToolRun } from '../tool.ts';
import { BashId, toUnknown } from './bash-id.ts';

const BashOutputArguments = z.strictObject({
  bash_id: BashId,
  wait_secs: z
    .int()
    .min(0)
    .max(600)
    .optional()
    .describe(
      'Waits up to so many seconds until the command ends, or wait_for appears. Default: 0, or 60 with wait_for',
    ),
  wait_for: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Waits until this text appears in the new output, such as "Listening on". It is no pattern'),
});
type BashOutputArguments = z.infer<typeof BashOutputArguments>;

const WAIT_FOR_SECS = 60;

/** Shows what a background command has printed since the last look, at once or after a wait. */
export function createBashOutputTool(background: BackgroundCommands): Tool<BashOutputArguments> {
  return {
    name: 'bash_output',
    description: [
      'Shows what a background command (bash with run_in_background) has printed since you last looked, and whether it still',
      'runs. With wait_secs or wait_for it waits first; prefer that to asking again and again.',
    ].join(' '),
    parameters: BashOutputArguments,
    readOnly: true,
    safeToRepeat: true,
    prepare: async (args, context) => ({
      kind: 'ready',
      subject: args.wait_for === undefined ? args.bash_id : `${args.bash_id}, until "${args.wait_for}"`,
      preview: '',
      approvalLabel: 'bash_output',
      needsApproval: false,
      execute: (run) => show(args, run, { background, context }),
    }),
  };
}

async function show(
  args: BashOutputArguments,
  tool: ToolRun,
  { background, context: { wsId } }: { background: BackgroundCommands; context: ToolContext },
): Promise<ToolOutcome> {
  const run = background.find(wsId, args.bash_id);
  if (!run) return showStored(args.bash_id, { background, wsId });
  const waited = await waitFor(run, args, tool.signal);
  if (waited instanceof StopReason) return { output: toStopLine(waited, 0), outcome: outcomeOf(waited) };
  // Looked at once, because it may end at any time.
  const hasEnded = !run.isRunning;
  const printed = run.takeNew(tool.maxOutputBytes);
  const status = hasEnded ? toEnd(run) : toRunning(run, { ...args, waited });
  if (hasEnded) await background.told(run);
  return {
    output: joinLines(printed === '' ? '[no new output]' : printed, status),
    outcome: 'done',
    guarded: run.guarded,
    ...(run.taint && { taint: run.taint }),
  };
}

type Waited = Awaited<ReturnType<BackgroundRun['waitFor']>> | undefined;

/** A StopReason if the run is being stopped. */
async function waitFor(
  run: BackgroundRun,
  { wait_secs: secs, wait_for: text }: BashOutputArguments,
  signal: AbortSignal,
): Promise<Waited | StopReason> {
  const waitSecs = secs ?? (text === undefined ? 0 : WAIT_FOR_SECS);
  if (waitSecs === 0 || !run.isRunning) return undefined;
  try {
    return await run.waitFor({ text, ms: waitSecs * 1_000, signal });
  } catch (error) {
    if (error instanceof StopReason) return error;
    throw error;
  }
}

/** With a tenth of a second, so that two looks in one second are no repetition. */
function toRunning(run: BackgroundRun, { wait_for: text, waited }: BashOutputArguments & { waited: Waited }): string {
  const missing = waited === 'time' && text !== undefined ? `; "${text}" did not appear` : '';
  return `[still running after ${(run.ranMs / 1_000).toFixed(1)} s${missing}]`;
}

const toEnd = (run: BackgroundRun): string => `[${endWords(run.state)}, after ${spanWords(run.ranMs)}]`;

/** A command whose output is no longer in memory. */
async function showStored(
  commandId: string,
  { background, wsId }: { background: BackgroundCommands; wsId: string },
): Promise<ToolOutcome> {
  const found = await background.read(wsId, commandId);
  if (!found) return toUnknown(commandId);
  const { state, outputName, taint } = found;
  const { last_output: last, started_ms: startedMs, ended_ms: endedMs = startedMs } = state;
  const rest =
    outputName === undefined
      ? ''
      : ` read_output with call_id "${commandId}" shows all of its output, if it is still stored.`;
  return {
    output: joinLines(
      last === '' ? '[it printed nothing]' : last,
      `[${endWords(state)}, after ${spanWords(endedMs - startedMs)}. These are its last lines.${rest}]`,
    ),
    outcome: 'done',
    ...(taint && { taint }),
  };
}

const joinLines = (printed: string, status: string): string =>
  printed.endsWith('\n') ? `${printed}${status}` : `${printed}\n${status}`;
