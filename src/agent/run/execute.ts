import { until } from '../../timing/until.ts';
import { mayChangeFiles } from '../permissions/changes-files.ts';
import { StopReason } from '../stop-reason.ts';
import { CallInterrupted } from '../subagents/call-interrupted.ts';
import { TASK } from '../subagents/sub-agents.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { PreparedCall } from '../tools/toolbox.ts';
import { decisionOf, grantedTo, isForbidden, noteUse } from './approval/call-need.ts';
import { unaskedVerdict } from './approval/rate-call.ts';
import { forbidden, hasUnknownOutcome, mayHaveHadEffect, recordShown } from './approval/refusals.ts';
import { taintOf } from './approval/taint.ts';
import { type BatchCall, toHooked } from './batch-call.ts';
import { inputDesk } from './inputs/ask-input.ts';
import { resumedBy } from './inputs/resumed-by.ts';
import { reviewPlan } from './plan/review-plan.ts';
import { recordResult, recordReturned } from './record-result.ts';
import type { NewVerdict, Step } from './recorder.ts';
import type { KeptImages, RunContext } from './run-context.ts';
import { outputBytesIn } from './window/model-windows.ts';

const PARALLEL = 4;

/**
 * Runs approved calls, at most four at once; sub-agents start at once and wait for their own turn. Each result is recorded
 * as soon as it is available.
 */
export async function executeAll(run: RunContext, calls: readonly BatchCall[]): Promise<void> {
  if (calls.some(({ prepared }) => mayChangeFiles(prepared))) await until(run.checkpoint.before(), run.signal);
  const tasks = calls.filter(isTask);
  const waiting = calls.filter((item) => !isTask(item));
  const worker = async () => {
    try {
      for (let next = waiting.shift(); next && !run.signal.aborted; next = waiting.shift())
        await executeCall(run, next);
    } catch (error) {
      waiting.length = 0; // do not start calls whose results could not be recorded
      throw error;
    }
  };
  const workers = Array.from({ length: PARALLEL }, worker);
  const finished = await Promise.allSettled([...workers, ...tasks.map((item) => executeCall(run, item))]);
  const failed = finished.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  run.signal.throwIfAborted();
}

const isTask = ({ call, prepared }: BatchCall): boolean => prepared.kind === 'ready' && call.name === TASK;

async function executeCall(run: RunContext, item: BatchCall): Promise<void> {
  const { call, prepared } = item;
  if (prepared.kind !== 'ready') return;
  await run.settings.workdir.check(); // the approval may have waited for hours
  const wasInterrupted = hasUnknownOutcome(run, item);
  const mayHaveRun = mayHaveHadEffect(run, item);
  const refuse = () => recordShown(run, new Map([[item, forbidden(run, item, mayHaveRun)]]));
  if (!isForbidden(run, item)) await askHooks(run, item);
  if (isForbidden(run, item)) return refuse(); // since its approval, or by a hook
  const decision = decisionOf(run, item); // as it was when the call began
  noteUse(run, item);
  const { readOnly = false, safeToRepeat = false } = prepared.tool ?? {};
  const start: Step = { journal: [{ kind: 'tool_started', callId: call.id, safeToRepeat }], durable: !readOnly };
  if (!resumedBy(run.progress, call.id)) await run.recorder.record(start); // a call that goes on has started before
  if (isForbidden(run, item)) return refuse(); // while that was stored
  const startMs = run.clock.monotonic();
  const running = resultOf(run, item, prepared);
  const verdict = wasInterrupted ? undefined : rateRunning(run, item);
  const { result: ran, kept } = await withImages(run, await running);
  const durationMs = Math.round(run.clock.monotonic() - startMs);
  try {
    await recordReturned(run, item, { result: ran, durationMs });
    const result = await run.hooks.afterTool(toHooked(item, 'after'), ran);
    await recordResult(run, item, { result, durationMs, verdict, decision, kept });
  } catch (error) {
    await kept?.abandon();
    throw error;
  }
  kept?.settle();
}

/** While the call runs, because nobody waits for its verdict. Without one, it still keeps its result. */
function rateRunning(run: RunContext, item: BatchCall): NewVerdict | undefined {
  try {
    return unaskedVerdict(run, item);
  } catch (error) {
    run.log.error({ err: error, wsId: run.wsId, callId: item.call.id }, 'a call could not be rated');
    return undefined;
  }
}

/** A call whose start was recorded before a restart has passed them. */
async function askHooks(run: RunContext, item: BatchCall): Promise<void> {
  if (run.progress.tools.has(item.call.id)) return;
  const said = await run.hooks.beforeTool(toHooked(item, 'before'));
  if (said !== undefined) item.blockedByHook = said;
}

/** Stores the images of a result. Without them it has failed. */
async function withImages(
  run: RunContext,
  result: ToolOutcome,
): Promise<{ result: ToolOutcome; kept?: KeptImages | undefined }> {
  if (!result.images) return { result };
  try {
    return { result, kept: await run.keepImages(result.images) };
  } catch (error) {
    run.log.warn({ err: error, wsId: run.wsId }, 'an image that a tool has read could not be stored');
    return { result: { output: 'The image could not be stored, so you do not see it.', outcome: 'failed' } };
  }
}

async function resultOf(run: RunContext, item: BatchCall, prepared: ReadyCall): Promise<ToolOutcome> {
  const { call } = item;
  try {
    return await prepared.execute({
      signal: run.signal,
      grants: grantedTo(run, item),
      taint: taintOf(item),
      inputs: inputDesk(run, item),
      reviewPlan: (goal) => reviewPlan(run, item, goal),
      answer: run.progress.approval?.decision?.answers?.[call.id],
      maxOutputBytes: outputBytesIn(run.window.lastWindow()),
      onOutput: (chunk) => run.recorder.emit({ type: 'tool_output_chunk', call_id: call.id, chunk }),
      onProcess: (process) =>
        run.recorder.record({ journal: [{ kind: 'tool_process', callId: call.id, process }], durable: true }),
    });
  } catch (error) {
    if (error instanceof CallInterrupted) throw error;
    // It has no result to record: the next start runs it again.
    if (isShuttingDown(run) && prepared.tool?.safeToRepeat) throw run.signal.reason;
    run.log.warn({ err: error, tool: call.name, wsId: run.wsId }, 'tool failed unexpectedly');
    return { output: `Error: ${error instanceof Error ? error.message : 'the tool failed'}`, outcome: 'failed' };
  }
}

const isShuttingDown = ({ signal }: RunContext): boolean =>
  signal.aborted && signal.reason instanceof StopReason && signal.reason.kind === 'shutdown';

type ReadyCall = Extract<PreparedCall, { kind: 'ready' }>;
