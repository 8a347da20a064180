import { workstreamEndpoints } from '../../../protocol/http/workstream.ts';
import type { Result } from '../../../protocol/index.ts';
import { bind, given } from '../bind.ts';
import { iso } from '../iso.ts';

/** The answer to a cancel, on both paths. */
export const toCancelReply = ({ status, dropped }: Result<'workstream.cancel'>) => ({
  status,
  dropped: {
    was_running: dropped.wasRunning,
    pending_approval: dropped.pendingApproval && {
      approval_id: dropped.pendingApproval.approvalId,
      tool_names: dropped.pendingApproval.toolNames,
    },
    stopped_tools: dropped.stoppedTools,
    queued_messages: { count: dropped.queuedMessages.count, first_preview: dropped.queuedMessages.firstPreview },
  },
});

export const workstreamRoutes = [
  bind(workstreamEndpoints.list, 'workstream.list', {
    params: () => ({}),
    reply: ({ workstreams }) => ({
      workstreams: workstreams.map(({ wsId, name, state, userId, visibility }) => ({
        id: wsId,
        ws_id: wsId,
        name,
        state,
        user_id: userId,
        visibility,
      })),
    }),
  }),
  bind(workstreamEndpoints.saved, 'workstream.saved', {
    params: ({ limit }) => ({ limit }),
    reply: ({ workstreams }) => ({
      workstreams: workstreams.map(
        ({ wsId, alias, title, createdMs, updatedMs, messageCount, userId, visibility }) => ({
          ws_id: wsId,
          alias,
          title,
          created: iso(createdMs),
          updated: iso(updatedMs),
          message_count: messageCount,
          user_id: userId,
          visibility,
        }),
      ),
    }),
  }),
  bind(workstreamEndpoints.create, 'workstream.create', {
    params: ({ name, model, auto_approve, resume_ws, workdir, visibility, template, ws_template, skill }) => ({
      name: given(name),
      model: given(model),
      autoApprove: auto_approve,
      resumeWs: given(resume_ws),
      workdir: given(workdir),
      visibility: visibility ?? undefined,
      template: given(template),
      wsTemplate: given(ws_template),
      skill: given(skill),
    }),
    reply: ({ wsId, name, resumed, messageCount }) => ({ ws_id: wsId, name, resumed, message_count: messageCount }),
  }),
  bind(workstreamEndpoints.close, 'workstream.close', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ status }) => ({ status }),
  }),
  bind(workstreamEndpoints.send, 'workstream.send', {
    params: ({ ws_id, message, attachment_ids }) => ({
      wsId: ws_id,
      message,
      attachmentIds: attachment_ids ?? ('pending' as const),
    }),
    reply: ({ status, runId, attachedIds, droppedIds }) => ({
      status,
      run_id: runId,
      attached_ids: attachedIds,
      dropped_attachment_ids: droppedIds,
    }),
  }),
  bind(workstreamEndpoints.approve, 'workstream.approve', {
    params: ({ ws_id, approved, feedback, always, approval_id, call_id, cycle_id }) => ({
      wsId: ws_id,
      approved,
      feedback,
      always,
      approvalId: given(approval_id),
      callId: given(call_id),
      cycleId: given(cycle_id),
    }),
    reply: ({ status }) => ({ status }),
  }),
  bind(workstreamEndpoints.cancel, 'workstream.cancel', {
    // Exactly `true`: a truthy string must not abandon a worker.
    params: ({ ws_id, force }) => ({ wsId: ws_id, force: force === true }),
    reply: toCancelReply,
  }),
  bind(workstreamEndpoints.command, 'workstream.command', {
    params: ({ ws_id, command }) => ({ wsId: ws_id, command }),
    reply: ({ status, wsId, error }) => ({ status, ws_id: wsId, ...(error !== undefined && { error }) }),
  }),
];
