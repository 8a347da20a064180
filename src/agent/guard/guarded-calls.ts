import { CallInterrupted } from '../subagents/call-interrupted.ts';
import type { Prepared, ToolOutcome, ToolRun } from '../tools/tool.ts';
import type { OutputGuard } from './output-guard.ts';
import { findTag } from './tags.ts';

type Ready = Extract<Prepared, { kind: 'ready' }>;

/** A prepared call whose texts pass the guard: what it shows before it runs, what it returns, and why it fails. */
export function guardCall(call: Prepared, guard: OutputGuard): Prepared {
  if (call.kind === 'refused') return { ...call, reason: guard.clean(call.reason) };
  // A diff contains text of a file; other previews are what the model wrote, and an approver has to see exactly that.
  const preview = call.previewType === 'diff' ? guard.clean(call.preview) : call.preview;
  return { ...call, preview, execute: async (run) => executeGuarded(call, run, guard) };
}

async function executeGuarded(call: Ready, run: ToolRun, guard: OutputGuard): Promise<ToolOutcome> {
  const { guarded, ...outcome } = await call.execute(run).catch((error: unknown) => {
    if (error instanceof CallInterrupted) throw error;
    throw error instanceof Error ? new Error(guard.clean(error.message)) : error;
  });
  const { text, assessment } = await guard.check(outcome.output, guarded);
  return { ...outcome, output: text, ...(assessment && { assessment }) };
}

/** Why a call must not write this text; undefined if it may. */
export function whyNotWritten(text: string): string | undefined {
  const tag = findTag(text);
  if (tag === undefined) return undefined;
  return `${tag} stands for a secret that is hidden from you. Writing it would replace the secret, so nothing was done. Change only other text, or ask the person to enter the secret.`;
}
