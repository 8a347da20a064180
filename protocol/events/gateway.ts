import { z } from 'zod';
import type { Scope } from '../contract.ts';
import { CronEvent } from '../cron.ts';
import { NonEmpty } from '../frames.ts';
import { AgentEvent } from '../methods/agent.ts';
import { Approval } from '../methods/approval.ts';
import { ChatEvent } from '../methods/chat.ts';
import { PresenceEntry } from '../methods/connect.ts';
import { HealthSummary } from '../methods/health.ts';
import {
  NodeEvent,
  NodeInvokeCancel,
  NodeInvokeRequest,
  NodePairing,
  NodePairResolved,
  NodePairToken,
} from '../methods/node.ts';
import { VoiceWake } from '../methods/voicewake.ts';
import { HeartbeatEvent } from '../methods/wake.ts';
import { StreamEvent } from '../stream-events.ts';

/** One row of the events that the gateway sends over a WebSocket. */
export interface GatewayEventRow<P extends z.ZodType = z.ZodType> {
  summary: string;
  /** Who receives it. */
  scope: Scope;
  payload: P;
  /** Skipped for a client whose outbound buffer is over its budget; others close such a client with 1008. */
  dropIfSlow: boolean;
  /** Carries `seq`, numbered without gaps for clients with the same rights. Stream events have their own cursor instead. */
  sequenced: boolean;
  /** Carries `stateVersion`. */
  versioned: boolean;
  /** Also sent, without `seq`, to the one connection that it concerns, if that holds this scope. */
  direct?: Scope;
}

const row = <P extends z.ZodType>(event: GatewayEventRow<P>) => event;
const broadcast = { scope: 'read', dropIfSlow: true, sequenced: true, versioned: false } as const;
/** For one connection only. */
const direct = { dropIfSlow: false, sequenced: false, versioned: false } as const;
const projection = { scope: 'read', dropIfSlow: false, sequenced: false, versioned: false } as const;

/**
 * Every event of the gateway: who gets it, whether a slow client may miss it, and its payload (PROTOCOL.md, "Events").
 */
export const GATEWAY_EVENTS = {
  agent: row({ ...projection, summary: 'One step of a run’s output (protocol 2).', payload: AgentEvent }),
  chat: row({ ...projection, summary: 'A run as chat: deltas, then one final, aborted or error.', payload: ChatEvent }),
  workstream: row({
    ...projection,
    summary: 'One event of a subscribed workstream’s log.',
    payload: z.strictObject({ wsId: NonEmpty, cursor: NonEmpty, event: StreamEvent }).meta({ id: 'WorkstreamEvent' }),
  }),
  'approval.requested': row({
    ...broadcast,
    scope: 'approve',
    dropIfSlow: false,
    summary: 'Something waits for a person.',
    payload: Approval,
  }),
  'approval.resolved': row({
    ...broadcast,
    scope: 'approve',
    dropIfSlow: false,
    summary: 'An approval was decided, timed out or cancelled.',
    payload: z
      .strictObject({ approvalId: NonEmpty, wsId: NonEmpty, sessionKey: NonEmpty, approved: z.boolean() })
      .meta({ id: 'ApprovalResolved' }),
  }),
  'workstream.opened': row({
    ...broadcast,
    dropIfSlow: false,
    summary: 'A workstream was made or reopened: it is in `workstream.list` now.',
    payload: z.strictObject({ wsId: NonEmpty }).meta({ id: 'WorkstreamOpened' }),
  }),
  'workstream.closed': row({
    ...broadcast,
    dropIfSlow: false,
    summary: 'A workstream was unloaded; its conversation stays saved.',
    payload: z.strictObject({ wsId: NonEmpty }).meta({ id: 'WorkstreamClosed' }),
  }),
  'node.pair.requested': row({
    ...broadcast,
    scope: 'approve',
    dropIfSlow: false,
    summary: 'A machine asks to be paired as a node.',
    payload: NodePairing,
  }),
  'node.pair.resolved': row({
    ...broadcast,
    scope: 'approve',
    direct: 'pairing',
    dropIfSlow: false,
    summary: 'A pairing request was approved, rejected, or has expired; the node that waits is told, too.',
    payload: NodePairResolved,
  }),
  'node.pair.token': row({
    ...direct,
    scope: 'pairing',
    summary: 'To the node whose request was approved, on the connection that asked: its token.',
    payload: NodePairToken,
  }),
  'node.invoke.request': row({
    ...direct,
    scope: 'node',
    summary: 'To a node: run this command, and answer with `node.invoke.result` within `timeoutMs`.',
    payload: NodeInvokeRequest,
  }),
  'node.invoke.cancel': row({
    ...direct,
    scope: 'node',
    summary: 'To a node: end this command, whose run was cancelled, and answer what became of it.',
    payload: NodeInvokeCancel,
  }),
  'node.event': row({ ...broadcast, summary: 'A node tells of something by `node.event`.', payload: NodeEvent }),
  presence: row({
    ...broadcast,
    versioned: true,
    summary: 'Who is connected: always the full list.',
    payload: z.strictObject({ presence: z.array(PresenceEntry) }).meta({ id: 'PresenceEvent' }),
  }),
  tick: row({
    ...broadcast,
    scope: 'public',
    summary: 'A sign of life every tickIntervalMs.',
    payload: z.strictObject({ ts: z.int().min(0) }).meta({ id: 'TickEvent' }),
  }),
  health: row({
    ...broadcast,
    versioned: true,
    dropIfSlow: true,
    summary: 'The health summary was refreshed.',
    payload: HealthSummary,
  }),
  heartbeat: row({
    ...broadcast,
    summary: 'A turn of the main session that nobody typed is over.',
    payload: HeartbeatEvent,
  }),
  cron: row({
    ...broadcast,
    dropIfSlow: false,
    summary: 'A job was changed, began, ended or could not run.',
    payload: CronEvent,
  }),
  'voicewake.changed': row({
    ...broadcast,
    summary: 'The words that wake voice clients were set.',
    payload: VoiceWake,
  }),
  shutdown: row({
    ...broadcast,
    scope: 'public',
    dropIfSlow: false,
    summary: 'The daemon stops; sockets close with 1012.',
    payload: z
      .strictObject({ reason: NonEmpty, restartExpectedMs: z.int().min(0).optional() })
      .meta({ id: 'ShutdownEvent' }),
  }),
} as const;

/** The `event` of an event frame. */
export type GatewayEventName = keyof typeof GATEWAY_EVENTS;
/** What an event of this name carries. */
export type GatewayEventPayload<E extends GatewayEventName> = z.infer<(typeof GATEWAY_EVENTS)[E]['payload']>;
