import type { ApprovalItem } from '../../../protocol/stream-events.ts';
import type { ToolCall } from '../message.ts';
import { approvalDigest } from '../tools/approval-digest.ts';
import type { PreparedCall } from '../tools/toolbox.ts';
import type { RunContext } from './run-context.ts';

/** One call of the batch, ready to be judged. */
export interface BatchCall {
  call: ToolCall;
  prepared: PreparedCall;
  digest: string;
}

/** What the call would do now, and the digest an approval of it is bound to. */
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

/** As a person sees it. */
export function toItem(run: RunContext, { call, prepared }: BatchCall): ApprovalItem {
  const ready = prepared.kind === 'ready' ? prepared : undefined;
  return {
    call_id: call.id,
    header: prepared.header,
    preview: ready?.preview ?? '',
    func_name: call.name,
    approval_label: ready?.approvalLabel ?? call.name,
    needs_approval: ready?.needsApproval ?? false,
    error: prepared.kind === 'refused' ? prepared.reason : null,
    ...(call.name === 'bash' && run.notSandboxed !== undefined && { not_sandboxed: run.notSandboxed }),
  };
}
