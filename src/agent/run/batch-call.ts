import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import type { ToolCall } from '../message.ts';
import { approvalDigest } from '../tools/approval-digest.ts';
import type { PreparedCall } from '../tools/toolbox.ts';
import { type CallKeys, fingerprint, timesOf, type Verdict, verdictOf } from './limits/repeats.ts';
import type { RunContext } from './run-context.ts';

/** A prepared call of the batch. */
export interface BatchCall {
  call: ToolCall;
  prepared: PreparedCall;
  /** What identifies it: what it does, and what its approval is bound to. */
  keys: CallKeys;
}

/** Prepares a call and computes the digest that its approval is bound to. */
export async function prepareCall(run: RunContext, call: ToolCall): Promise<BatchCall> {
  const workdir = await run.settings.workdir.check();
  const context = { wsId: run.wsId, callId: call.id, workdir, history: run.messages, signal: run.signal };
  const prepared = await run.toolbox.prepare(call, context);
  const bindTo = prepared.kind === 'ready' ? prepared.bindTo : undefined;
  const digest = approvalDigest({
    tool: call.name,
    canonicalArguments: prepared.canonicalArguments,
    workdir: workdir.folder,
    ...(bindTo !== undefined && { bindTo }),
  });
  return { call, prepared, keys: { call: fingerprint(call.name, prepared.canonicalArguments), digest } };
}

/** Judges a call by what the run did before. */
export const judge = ({ progress }: RunContext, { keys }: BatchCall): Verdict =>
  verdictOf(progress.repeats, keys, progress.turns);

/** The call as shown to people. */
export function toItem(run: RunContext, item: BatchCall): ApprovalItem {
  const { call, prepared, keys } = item;
  const notSandboxed = whyNotSandboxed(run, call);
  const { subject } = prepared;
  const ready = prepared.kind === 'ready' ? prepared : undefined;
  const isRepeated = judge(run, item) === 'ask';
  return {
    call_id: call.id,
    ...(subject === '' ? { header: toVisibleLine(call.name) } : { header: `${call.name}: ${subject}`, subject }),
    preview: ready?.preview ?? '',
    ...(ready?.previewType && { preview_type: ready.previewType }),
    func_name: call.name,
    approval_label: ready?.approvalLabel ?? call.name,
    needs_approval: isRepeated || (ready?.needsApproval ?? false),
    error: prepared.kind === 'refused' ? prepared.reason : null,
    ...(isRepeated && { repeated: timesOf(run.progress.repeats, keys.call) }),
    ...(notSandboxed !== undefined && { not_sandboxed: notSandboxed }),
  };
}

/** Why a call runs without the sandbox; undefined if it runs in it, or starts no process. */
export const whyNotSandboxed = ({ notSandboxed }: RunContext, { name }: ToolCall): string | undefined =>
  name === 'bash' ? notSandboxed : undefined;
