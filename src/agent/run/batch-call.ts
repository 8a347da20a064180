import type { ApprovalItem } from '../../../protocol/stream-events.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import type { ToolCall } from '../message.ts';
import { approvalDigest } from '../tools/approval-digest.ts';
import type { PreparedCall } from '../tools/toolbox.ts';
import type { RunContext } from './run-context.ts';

/** A prepared call of the batch. */
export interface BatchCall {
  call: ToolCall;
  prepared: PreparedCall;
  digest: string;
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
  return { call, prepared, digest };
}

/** The call as shown to people. */
export function toItem(run: RunContext, { call, prepared }: BatchCall): ApprovalItem {
  const notSandboxed = whyNotSandboxed(run, call);
  const { subject } = prepared;
  const ready = prepared.kind === 'ready' ? prepared : undefined;
  return {
    call_id: call.id,
    ...(subject === '' ? { header: toVisibleLine(call.name) } : { header: `${call.name}: ${subject}`, subject }),
    preview: ready?.preview ?? '',
    func_name: call.name,
    approval_label: ready?.approvalLabel ?? call.name,
    needs_approval: ready?.needsApproval ?? false,
    error: prepared.kind === 'refused' ? prepared.reason : null,
    ...(notSandboxed !== undefined && { not_sandboxed: notSandboxed }),
  };
}

/** Why a call runs without the sandbox; undefined if it runs in it, or starts no process. */
export const whyNotSandboxed = ({ notSandboxed }: RunContext, { name }: ToolCall): string | undefined =>
  name === 'bash' ? notSandboxed : undefined;
