import type { CallDecision } from '../message.ts';
import { namesOf } from '../tools/called-names.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { decisionOf } from './approval/call-need.ts';
import { taintOf } from './approval/taint.ts';
import { type BatchCall, whyNotSandboxed } from './batch-call.ts';
import type { ReturnedCall } from './journal.ts';
import { resultHash } from './limits/repeats.ts';
import { noteLimit } from './limits/wrap-up.ts';
import { recordAtLast } from './record-at-last.ts';
import type { NewVerdict } from './recorder.ts';
import { resultStep } from './result-step.ts';
import type { KeptImages, RunContext } from './run-context.ts';

interface Finished {
  result: ToolOutcome;
  durationMs: number;
  verdict?: NewVerdict | undefined;
  /** How it was decided about the call when it began; after a restart, as it is decided now. */
  decision?: CallDecision | undefined;
  kept?: KeptImages | undefined;
}

/** Records the result of a call that ran. Its effect is known now; a full disk must not make its outcome unknown. */
export async function recordResult(
  run: RunContext,
  item: BatchCall,
  { result, durationMs, verdict, decision = decisionOf(run, item), kept }: Finished,
): Promise<void> {
  const { call, prepared, keys } = item;
  const changes = prepared.tool?.readOnly !== true && { changes: true as const };
  const trace = { kind: 'result' as const, call: keys.call, result: resultHash(result), ...changes };
  const taint = taintOf(item) ?? result.taint;
  const assessmentId = result.assessment && run.ids.id('asm');
  const notSandboxed = whyNotSandboxed(run, item);
  const results = noteLimit(run, [
    {
      call,
      result,
      verdict,
      assessmentId,
      durationMs,
      notSandboxed,
      decision,
      trace,
      ...(taint && { taint }),
      ...(kept && { attachments: kept.attachments }),
    },
  ]);
  await recordAtLast(run, () => resultStep(results));
}

/**
 * Stores what a call returned before hooks run after it: a kill during them does not make its outcome unknown. Calls that may
 * run again do not need it.
 */
export async function recordReturned(
  run: RunContext,
  item: BatchCall,
  { result, durationMs }: Finished,
): Promise<void> {
  const { call, prepared } = item;
  if (prepared.tool?.safeToRepeat === true || !run.hooks.hasAfterTool(namesOf(call, prepared))) return;
  const { images = [], guarded: _, ...outcome } = result;
  const lost = images.length > 0 ? `\n${IMAGES_LOST}` : '';
  const returned: ReturnedCall = {
    result: { ...outcome, output: `${outcome.output}${lost}\n${HOOKS_CUT}` },
    durationMs,
  };
  await recordAtLast(run, () => ({
    journal: [{ kind: 'tool_returned', callId: call.id, returned }],
    durable: prepared.tool?.readOnly !== true,
  }));
}

/** Read only after a kill. */
const HOOKS_CUT = '[Headgate stopped while hooks ran after this call; what they would have added is missing.]';
const IMAGES_LOST = '[Its images are lost, too.]';

/** Records the results of calls that had returned before a restart. Returns the other calls. */
export async function settleReturned(run: RunContext, batch: readonly BatchCall[]): Promise<BatchCall[]> {
  const others: BatchCall[] = [];
  for (const item of batch) {
    const returned = run.progress.tools.get(item.call.id)?.returned;
    if (returned) await recordResult(run, item, returned);
    else others.push(item);
  }
  return others;
}
