import { createGuardedBytes } from '../../guard/guarded-bytes.ts';
import { createBashTool } from '../bash.ts';
import { limitOf, toEnding } from '../command-ending.ts';
import { outcomeOf } from '../stop-line.ts';
import type { Tool, ToolOutcome, ToolRun } from '../tool.ts';
import type { BashArguments, BashDependencies } from './bash-arguments.ts';
import { type BashCall, openCommand } from './open-command.ts';

const TIMEOUT_SECS = 120;

/**
 * The tool `bash` as watches use it: a call is read, ruled and confined in the same way, but its output is exactly what the
 * command printed, up to its limit, because conditions look into it. It ends with a line about the end only if the command
 * did not exit by itself.
 */
export function createPolledBash(dependencies: BashDependencies): Tool<BashArguments> {
  const bash = createBashTool(dependencies);
  return {
    ...bash,
    async prepare(args, context) {
      const prepared = await bash.prepare(args, context);
      if (prepared.kind === 'refused' || prepared.reading === undefined) return prepared;
      const { reading } = prepared;
      return { ...prepared, execute: (run) => poll({ args, context, reading }, run, dependencies) };
    },
  };
}

async function poll(call: BashCall, run: ToolRun, dependencies: BashDependencies): Promise<ToolOutcome> {
  const { runner, guard, live } = dependencies;
  const timeoutSecs = live?.commandTimeoutSecs ?? TIMEOUT_SECS;
  const guarded = guard.open();
  const bytes = createGuardedBytes(guarded);
  const printed: Buffer[] = [];
  let room = run.maxOutputBytes;
  const keep = (piece: Buffer): void => {
    if (room > 0) printed.push(piece.subarray(0, room));
    room -= piece.length;
  };
  const { command, network } = await openCommand(call, run, { dependencies, timeoutSecs });
  const result = await runner.run(command, {
    signal: run.signal,
    onProcess: run.onProcess,
    onOutput: async (piece) => keep(bytes.write(piece)),
  });
  keep(bytes.end());
  const output = Buffer.concat(printed).toString('utf8');
  const refused = (network?.refused() ?? []).map((one) => ({ ...one, host: guard.clean(one.host) }));
  const about = { guarded, ...(refused.length > 0 && { refusedHosts: refused }) };
  if (result.kind === 'exited')
    return { output, outcome: result.exitCode === 0 ? 'done' : 'failed', exitCode: result.exitCode, ...about };
  const ending = toEnding({ result, timeoutSecs, limit: limitOf(result), limits: runner.limits, refused: [] });
  const outcome = result.kind === 'stopped' ? outcomeOf(result.reason) : 'failed';
  return {
    output: output === '' || output.endsWith('\n') ? `${output}${ending}` : `${output}\n${ending}`,
    outcome,
    ...about,
  };
}
