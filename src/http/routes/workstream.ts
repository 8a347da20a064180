import type { z } from 'zod';
import { workstreamEndpoints } from '../../../protocol/http/workstream.ts';
import type { Result } from '../../../protocol/index.ts';
import type { WorkstreamRow } from '../../../protocol/methods/conversation/listing.ts';
import { bind, given } from '../bind.ts';
import { iso } from '../iso.ts';
import { toWaiting } from './waiting.ts';

/** The answer to a cancel, on both paths. */
export const toCancelReply = ({ status, dropped }: Result<'workstream.cancel'>) => ({
  status,
  dropped: {
    was_running: dropped.wasRunning,
    pending_approval: dropped.pendingApproval && {
      approval_id: dropped.pendingApproval.approvalId,
      tool_names: dropped.pendingApproval.toolNames,
      call_id: dropped.pendingApproval.callId ?? null,
    },
    stopped_tools: dropped.stoppedTools,
    ...(dropped.subAgents !== undefined && { sub_agents: dropped.subAgents }),
    ...(dropped.backgroundCommands !== undefined && { background_commands: dropped.backgroundCommands }),
    queued_messages: { count: dropped.queuedMessages.count, first_preview: dropped.queuedMessages.firstPreview },
  },
});

type Approve = z.output<ReturnType<typeof workstreamEndpoints.approve.request>>;

/** The finer parts of a decision, on both paths. */
export const toFiner = ({ rule, decisions }: Pick<Approve, 'rule' | 'decisions'>) => ({
  ...(rule && {
    rules: [rule].flat().map(({ call_id, id, term }) => ({ callId: given(call_id), id, term })),
  }),
  ...(decisions && {
    decisions: Object.fromEntries(
      Object.entries(decisions).map(([callId, { approved, feedback, answer, choice }]) => [
        callId,
        { approved, feedback: given(feedback), answer: answer ?? undefined, choice: given(choice) },
      ]),
    ),
  }),
});

/** The kind of a workstream, and the coordinator that it works for. */
export const toKind = ({ kind, parentWsId }: Pick<WorkstreamRow, 'kind' | 'parentWsId'>) => ({
  kind: kind ?? ('interactive' as const),
  parent_ws_id: parentWsId ?? null,
});
const NO_PROJECT = { project_id: null } as const;

const toSavedRow = (row: Result<'workstream.saved'>['workstreams'][number], nodeId: string) => ({
  ws_id: row.wsId,
  alias: row.alias,
  title: row.title,
  created: iso(row.createdMs),
  updated: iso(row.updatedMs),
  message_count: row.messageCount,
  name: row.name,
  state: row.state,
  loaded: row.loaded,
  ...toKind(row),
  ...NO_PROJECT,
  node_id: nodeId,
  model_alias: row.modelAlias,
  child_count: row.childCount ?? 0,
  context_tokens: row.contextTokens,
  context_ratio: row.contextRatio,
  user_id: row.userId,
  visibility: row.visibility,
});

const toDashboardRow = (row: Result<'workstream.dashboard'>['workstreams'][number], nodeId: string) => ({
  id: row.wsId,
  ws_id: row.wsId,
  name: row.name,
  state: row.state,
  title: row.title,
  tokens: row.totalTokens,
  context_ratio: row.contextRatio,
  activity: row.activity,
  activity_state: row.activityState,
  tool_calls: row.toolCalls,
  node: nodeId,
  model: row.model,
  model_alias: row.modelAlias,
});

export const workstreamRoutes = [
  bind(workstreamEndpoints.list, 'workstream.list', {
    params: () => ({}),
    reply: ({ workstreams }) => ({
      workstreams: workstreams.map(
        ({ wsId, name, state, title, modelAlias, messageCount, createdMs, updatedMs, userId, visibility, ...row }) => ({
          id: wsId,
          ws_id: wsId,
          name,
          state,
          title,
          ...toKind(row),
          ...NO_PROJECT,
          model_alias: modelAlias,
          message_count: messageCount,
          created: iso(createdMs),
          updated: iso(updatedMs),
          ...toWaiting(row),
          user_id: userId,
          visibility,
        }),
      ),
    }),
  }),
  bind(workstreamEndpoints.saved, 'workstream.saved', {
    params: ({ limit }) => ({ limit }),
    reply: ({ workstreams, nodeId }) => ({ workstreams: workstreams.map((row) => toSavedRow(row, nodeId)) }),
  }),
  bind(workstreamEndpoints.dashboard, 'workstream.dashboard', {
    params: () => ({}),
    reply: ({ workstreams, nodeId, uptimeSeconds, activeCount, totalTokens, totalToolCalls }) => ({
      workstreams: workstreams.map((row) => toDashboardRow(row, nodeId)),
      aggregate: {
        total_tokens: totalTokens,
        total_tool_calls: totalToolCalls,
        active_count: activeCount,
        total_count: workstreams.length,
        uptime_seconds: uptimeSeconds,
        node: nodeId,
      },
    }),
  }),
  bind(workstreamEndpoints.create, 'workstream.create', {
    params: ({
      auto_approve,
      auto_approve_tools,
      resume_ws,
      ws_template,
      ws_id,
      visibility,
      initial_message,
      judge_model,
      parent_ws_id,
      machine_labels,
      ...same
    }) => ({
      name: given(same.name),
      model: given(same.model),
      autoApprove: auto_approve,
      mode: same.mode ?? undefined,
      resumeWs: given(resume_ws),
      visibility: visibility ?? undefined,
      workdir: given(same.workdir),
      template: given(same.template),
      wsTemplate: given(ws_template),
      skill: given(same.skill),
      wsId: given(ws_id),
      initialMessage: given(initial_message),
      ...(auto_approve_tools.length > 0 && { autoApproveTools: auto_approve_tools }),
      judgeModel: given(judge_model),
      kind: same.kind || undefined,
      parentWsId: given(parent_ws_id),
      ...(machine_labels.length > 0 && { machineLabels: machine_labels }),
    }),
    reply: ({ wsId, name, resumed, messageCount, initialMessage, attachmentIds }) => ({
      ws_id: wsId,
      name,
      resumed,
      message_count: messageCount,
      ...(initialMessage && { initial_message_status: initialMessage.status, run_id: initialMessage.runId }),
      ...(attachmentIds && { attachment_ids: attachmentIds }),
    }),
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
    fieldNames: { rules: 'rule' },
    params: ({
      ws_id,
      approved,
      feedback,
      always,
      rule,
      decisions,
      approval_id,
      call_id,
      cycle_id,
      from_notification,
    }) => ({
      wsId: ws_id,
      approved,
      feedback,
      always,
      ...toFiner({ rule, decisions }),
      approvalId: given(approval_id),
      callId: given(call_id),
      cycleId: given(cycle_id),
      fromNotification: from_notification,
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
