import { z } from 'zod';
import { workstreamLineEndpoints } from '../../../protocol/http/workstream-line.ts';
import type { Result } from '../../../protocol/index.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import { withBudgetCall } from '../../gateway/usage/budget-item.ts';
import { bind, given } from '../bind.ts';
import { iso } from '../iso.ts';
import { toCancelReply, toFiner, toKind } from './workstream.ts';

/** A pending approval, as the paths of later releases show it. */
export const toPending = ({ approvalId, kind, items, budget, expiresAtMs }: Approval) => ({
  approval_id: approvalId,
  cycle_id: approvalId,
  kind,
  items: withBudgetCall({ kind, items, budget }),
  ...(budget && { budget }),
  expires_at_ms: expiresAtMs,
});

/** The details of a refused decision, from the gateway. */
const Stale = z.object({ currentCallId: z.string().nullable(), currentCycleId: z.string().nullable() });

/** The details of a refused message, from the gateway. */
const NotSent = z.object({ reason: z.enum(['queue_full', 'attachments_busy']) });

/** A message that begins with `!!!` is for the run in progress. Marks alone are an ordinary message. */
function prioritized(message: string): { text: string; priority: 'important' | 'notice' } {
  const [, text] = /^\s*!!!(?!!)(?=\s*\S)(.*)$/s.exec(message) ?? [];
  return text === undefined ? { text: message, priority: 'notice' } : { text, priority: 'important' };
}

/** So that the key of a message to an id that no workstream can have is not too long. */
const MAX_WS_ID = 64;

const removal = {
  params: ({ ws_id }: { ws_id: string }) => ({ wsId: ws_id }),
  reply: (_: unknown, { ws_id }: { ws_id: string }) => ({ status: 'ok' as const, deleted: ws_id }),
};

const toChangedFiles = ({ runIds, ...same }: NonNullable<Result<'workstream.rewind'>['files']>) => ({
  run_ids: runIds,
  ...same,
});

export const workstreamLineRoutes = [
  bind(workstreamLineEndpoints.detail, 'workstream.get', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ snapshot: { workstream, pendingApprovals, autoApproveTools, judgeModel, machineLabels } }) => ({
      ws_id: workstream.wsId,
      name: workstream.name,
      state: workstream.state,
      user_id: workstream.userId,
      visibility: workstream.visibility,
      ...toKind(workstream),
      title: workstream.title,
      model_alias: workstream.modelAlias,
      message_count: workstream.messageCount,
      created: iso(workstream.createdMs),
      updated: iso(workstream.updatedMs),
      mode: workstream.mode,
      ...(autoApproveTools && { auto_approve_tools: autoApproveTools }),
      ...(judgeModel !== undefined && { judge_model: judgeModel }),
      ...(machineLabels && { machine_labels: machineLabels }),
      pending_approval: pendingApprovals.map(toPending)[0],
    }),
  }),
  bind(workstreamLineEndpoints.history, 'workstream.history', {
    params: ({ ws_id, limit, before }) => ({ wsId: ws_id, limit, before, withCursor: true }),
    reply: ({ messages, truncated, cursor }, { ws_id }) => ({
      ws_id,
      messages,
      truncated,
      ...(cursor !== undefined && { cursor, handoff_token: cursor }),
    }),
  }),
  bind(workstreamLineEndpoints.send, 'workstream.send', {
    params: ({ ws_id, message, attachment_ids, client_send_id }) => {
      const { text, priority } = prioritized(message);
      return {
        wsId: ws_id,
        message: text,
        attachmentIds: attachment_ids ?? ('pending' as const),
        queue: true,
        steer: priority === 'important' || undefined,
        clientSendId: given(client_send_id),
        // Clients count their messages per workstream.
        idempotencyKey: given(client_send_id) && `${ws_id.slice(0, MAX_WS_ID)}:${client_send_id}`,
      };
    },
    reply: ({ runId, queued = false, attachedIds = [], droppedIds = [] }, { message }) => ({
      status: queued ? ('queued' as const) : ('ok' as const),
      ...(queued && { priority: prioritized(message).priority }),
      msg_id: runId,
      run_id: runId,
      attached_ids: attachedIds,
      dropped_attachment_ids: droppedIds,
    }),
    replyTo: (details) => {
      const { data } = NotSent.safeParse(details);
      return data && { status: data.reason, attached_ids: [], dropped_attachment_ids: [] };
    },
  }),
  bind(workstreamLineEndpoints.unsend, 'queue.remove', {
    params: ({ ws_id, msg_id }) => ({ wsId: ws_id, runId: msg_id }),
    fieldNames: { runId: 'msg_id' },
    reply: ({ removed }) => ({ status: removed ? ('removed' as const) : ('not_found' as const) }),
  }),
  bind(workstreamLineEndpoints.approve, 'workstream.approve', {
    fieldNames: { rules: 'rule' },
    params: ({ ws_id, approved, feedback, always, rule, decisions, call_id, cycle_id }) => ({
      wsId: ws_id,
      approved: approved === true,
      feedback,
      always,
      ...toFiner({ rule, decisions }),
      callId: given(call_id),
      cycleId: given(cycle_id),
    }),
    reply: ({ status, approvalId = '' }) => ({ status, cycle_id: approvalId }),
    refusal(details) {
      const { data } = Stale.safeParse(details);
      return data ? { current_call_id: data.currentCallId, current_cycle_id: data.currentCycleId } : {};
    },
  }),
  bind(workstreamLineEndpoints.cancel, 'workstream.cancel', {
    // Exactly `true`: a truthy string must not abandon a worker.
    params: ({ ws_id, force }) => ({ wsId: ws_id, force: force === true }),
    reply: toCancelReply,
  }),
  bind(workstreamLineEndpoints.close, 'workstream.close', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ status }) => ({ status }),
  }),
  bind(workstreamLineEndpoints.rewind, 'workstream.rewind', {
    fieldNames: { onConflict: 'on_conflict' },
    params: ({ ws_id, turns, files, on_conflict }) => ({
      wsId: ws_id,
      turns: Number(turns),
      ...(files === true && { files: true, onConflict: on_conflict ?? undefined }),
    }),
    reply: ({ status, afterSeq, taken, files }) => ({
      status,
      after_seq: afterSeq,
      taken,
      ...(files && { files: toChangedFiles(files) }),
    }),
  }),
  bind(workstreamLineEndpoints.retry, 'workstream.retry', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ status, runId }) => ({ status, run_id: runId }),
  }),
  bind(workstreamLineEndpoints.title, 'workstream.update', {
    params: ({ ws_id, title }) => ({ wsId: ws_id, name: title?.trim(), asTitle: true as const }),
    fieldNames: { name: 'title' },
    reply: ({ name }) => ({ status: 'ok' as const, title: name }),
  }),
  bind(workstreamLineEndpoints.refreshTitle, 'workstream.retitle', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ title }) => ({ status: 'ok' as const, title }),
  }),
  bind(workstreamLineEndpoints.open, 'workstream.open', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ wsId, name, wasOpen }) => ({ ws_id: wsId, name, already_loaded: wasOpen }),
  }),
  bind(workstreamLineEndpoints.remove, 'workstream.delete', removal),
  bind(workstreamLineEndpoints.removeByPost, 'workstream.delete', removal),
];
