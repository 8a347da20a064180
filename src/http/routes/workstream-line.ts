import { z } from 'zod';
import { workstreamLineEndpoints } from '../../../protocol/http/workstream-line.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import { bind, given } from '../bind.ts';
import { toCancelReply } from './workstream.ts';

const toPending = ({ approvalId, kind, items, budget, expiresAtMs }: Approval) => ({
  approval_id: approvalId,
  cycle_id: approvalId,
  kind,
  items,
  ...(budget && { budget }),
  expires_at_ms: expiresAtMs,
});

/** The details of a refused decision, from the gateway. */
const Stale = z.object({ currentCallId: z.string().nullable(), currentCycleId: z.string().nullable() });

export const workstreamLineRoutes = [
  bind(workstreamLineEndpoints.detail, 'workstream.get', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ snapshot: { workstream, pendingApprovals } }) => ({
      ws_id: workstream.wsId,
      name: workstream.name,
      state: workstream.state,
      user_id: workstream.userId,
      visibility: workstream.visibility,
      kind: 'interactive' as const,
      pending_approval: pendingApprovals.map(toPending)[0],
    }),
  }),
  bind(workstreamLineEndpoints.history, 'workstream.history', {
    params: ({ ws_id, limit }) => ({ wsId: ws_id, limit, withCursor: true }),
    reply: ({ messages, truncated, cursor = '' }, { ws_id }) => ({ ws_id, messages, truncated, cursor }),
  }),
  bind(workstreamLineEndpoints.send, 'workstream.send', {
    params: ({ ws_id, message, attachment_ids, client_send_id }) => ({
      wsId: ws_id,
      message,
      attachmentIds: attachment_ids ?? ('pending' as const),
      queue: true,
      idempotencyKey: given(client_send_id),
    }),
    reply: ({ runId, queued = false, attachedIds = [], droppedIds = [] }) => ({
      status: queued ? ('queued' as const) : ('ok' as const),
      msg_id: runId,
      run_id: runId,
      attached_ids: attachedIds,
      dropped_attachment_ids: droppedIds,
    }),
  }),
  bind(workstreamLineEndpoints.unsend, 'queue.remove', {
    params: ({ ws_id, msg_id }) => ({ wsId: ws_id, runId: msg_id }),
    reply: ({ removed }) => ({ status: removed ? ('removed' as const) : ('not_found' as const) }),
  }),
  bind(workstreamLineEndpoints.approve, 'workstream.approve', {
    params: ({ ws_id, approved, feedback, always, call_id, cycle_id }) => ({
      wsId: ws_id,
      approved: approved === true,
      feedback,
      always,
      callId: given(call_id),
      cycleId: given(cycle_id),
    }),
    reply: ({ status }) => ({ status }),
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
    params: ({ ws_id, turns }) => ({ wsId: ws_id, turns: Number(turns) }),
    reply: ({ status, afterSeq, taken }) => ({ status, after_seq: afterSeq, taken }),
  }),
  bind(workstreamLineEndpoints.retry, 'workstream.retry', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ status, runId }) => ({ status, run_id: runId }),
  }),
  bind(workstreamLineEndpoints.title, 'workstream.update', {
    params: ({ ws_id, title }) => ({ wsId: ws_id, name: title?.trim() }),
    reply: ({ name }) => ({ status: 'ok' as const, title: name }),
  }),
  bind(workstreamLineEndpoints.open, 'workstream.open', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ wsId, name, wasOpen }) => ({ ws_id: wsId, name, already_loaded: wasOpen }),
  }),
  bind(workstreamLineEndpoints.remove, 'workstream.delete', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: (_, { ws_id }) => ({ status: 'ok' as const, deleted: ws_id }),
  }),
];
