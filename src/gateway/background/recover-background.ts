import { takeTail } from '../../agent/process/byte-ends.ts';
import type { OutputPart, OutputRange } from '../../agent/process/output-files.ts';
import type { ProcessIdentity } from '../../agent/tools/tool.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../store/store.ts';
import type { StoredBackground } from './background-records.ts';
import { type LostCommand, readRunning } from './background-rows.ts';

interface RecoveryDeps {
  store: Store;
  records: Pick<StoredBackground, 'changed' | 'load'>;
  killLeftover(process: ProcessIdentity): Promise<unknown>;
  readOutput(name: string, range: OutputRange): Promise<OutputPart | undefined>;
  /** When the previous process was last known to be alive. */
  lastAliveMs: number | undefined;
  clock: { now(): number };
  log: Log;
}

/** Ends what the previous daemon left running, and records that; the model hears of it in the next run. */
export async function recoverBackground(deps: RecoveryDeps): Promise<void> {
  const { store, records, killLeftover, log } = deps;
  for (const command of await readRunning(store)) {
    const { wsId, state, process } = command;
    log.info({ commandId: state.command_id, wsId }, 'a background command of the last daemon is ended');
    await (process && killLeftover(process))?.catch((err: unknown) => {
      log.warn({ err, commandId: state.command_id }, 'a process of the last daemon could not be stopped');
    });
    await records.changed(await toEnded(command, deps));
  }
  await records.load();
}

const LAST_BYTES = 2 * 1024;
const LAST_LINES = 12;

/** With the output that was written after its last report. */
async function toEnded(command: LostCommand, deps: RecoveryDeps): Promise<LostCommand> {
  const { state } = command;
  const { lastAliveMs = deps.clock.now() } = deps;
  const endedMs = Math.max(state.started_ms, Math.min(lastAliveMs, deps.clock.now()));
  const last = await lastOf(command, deps);
  // The name of its file is stored before it prints anything.
  const outputName = last === undefined && state.output_bytes === 0 ? undefined : command.outputName;
  return { ...command, outputName, state: { ...state, ...last, state: 'ended', end: 'lost', ended_ms: endedMs } };
}

/** Undefined: nothing was found that is newer. */
async function lastOf(
  { outputName, state: { output_bytes: before } }: LostCommand,
  { readOutput, log }: RecoveryDeps,
): Promise<{ output_bytes: number; last_output: string } | undefined> {
  if (outputName === undefined) return undefined;
  try {
    const { totalBytes } = (await readOutput(outputName, { offset: 0, limit: 1 })) ?? { totalBytes: 0 };
    const last = await readOutput(outputName, { offset: Math.max(0, totalBytes - LAST_BYTES), limit: LAST_BYTES });
    if (!last || totalBytes < before) return undefined; // it was cut off at its limit, so its end was never in the file
    const lines = takeTail(Buffer.from(last.text), { maxBytes: LAST_BYTES, maxLines: LAST_LINES });
    return { output_bytes: totalBytes, last_output: lines.toString('utf8') };
  } catch (err) {
    log.warn({ err, output: outputName }, 'the output of a background command could not be read');
    return undefined;
  }
}
