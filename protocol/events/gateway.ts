import { z } from 'zod';
import { PresenceEntry } from '../connect.ts';
import type { Contract, Scope } from '../contract.ts';
import { CronEvent } from '../cron.ts';
import { NonEmpty } from '../frames.ts';
import { DECIDING } from '../methods/accounts/permissions.ts';
import { AgentEvent } from '../methods/agent.ts';
import { Approval } from '../methods/approval.ts';
import { ChatEvent } from '../methods/chat.ts';
import { ViewerIds } from '../methods/events.ts';
import { HealthSummary } from '../methods/health.ts';
import {
  LENDING,
  NodeEvent,
  NodeInvokeCancel,
  NodeInvokeRequest,
  NodePairing,
  NodePairResolved,
  NodePairToken,
} from '../methods/node.ts';
import { HeartbeatEvent, VoiceWake } from '../methods/wake.ts';
import { QueuedMessage } from '../queue/queue-methods.ts';
import { StreamEvent } from '../stream-events.ts';

/** One row of the events that the gateway sends over a WebSocket. */
export interface GatewayEventRow<P extends z.ZodType = z.ZodType> {
  summary: string;
  /** Who receives it. */
  scope: Scope;
  /** Needed in addition to the scope, as by the methods that handle what the event reports. Of several, one is enough. */
  permission?: NonNullable<Contract['permission']>;
  payload: P;
  /** True: skipped for a client whose outbound buffer is over its limit. False: such a client is closed with 1008. */
  dropIfSlow: boolean;
  /** Carries `seq`, numbered without gaps for clients with the same rights. Stream events have their own cursor instead. */
  sequenced: boolean;
  /** Carries `stateVersion`. */
  versioned: boolean;
  /** Is about one workstream, so only those who perceive it receive it. */
  ofWorkstream?: true;
  /** Also sent, without `seq`, to the one connection that it concerns, if that has this scope. */
  direct?: Scope;
}

const row = <const R extends GatewayEventRow>(event: R) => event;
const broadcast = { scope: 'read', dropIfSlow: true, sequenced: true, versioned: false } as const;
const ofWorkstream = { ...broadcast, ofWorkstream: true } as const;
/** For one connection only. */
const direct = { dropIfSlow: false, sequenced: false, versioned: false } as const;
const projection = { scope: 'read', dropIfSlow: false, sequenced: false, versioned: false } as const;

/** Every event of the gateway: its recipients, whether a slow client may miss it, and its payload (PROTOCOL.md, "Events"). */
export const GATEWAY_EVENTS = {
  agent: row({ ...projection, summary: 'One step of a run’s output (protocol 2).', payload: AgentEvent }),
  chat: row({ ...projection, summary: 'A run as chat: deltas, then one final, aborted or error.', payload: ChatEvent }),
  workstream: row({
    ...projection,
    summary: 'One event of a subscribed workstream’s log.',
    payload: z.strictObject({ wsId: NonEmpty, cursor: NonEmpty, event: StreamEvent }).meta({ id: 'WorkstreamEvent' }),
  }),
  'approval.requested': row({
    ...ofWorkstream,
    scope: 'approve',
    permission: DECIDING,
    dropIfSlow: false,
    summary: 'An approval is pending.',
    payload: Approval,
  }),
  'approval.resolved': row({
    ...ofWorkstream,
    scope: 'approve',
    permission: DECIDING,
    dropIfSlow: false,
    summary: 'An approval was decided, timed out or cancelled.',
    payload: z
      .strictObject({ approvalId: NonEmpty, wsId: NonEmpty, sessionKey: NonEmpty, approved: z.boolean() })
      .meta({ id: 'ApprovalResolved' }),
  }),
  'workstream.opened': row({
    ...ofWorkstream,
    dropIfSlow: false,
    summary: 'A workstream was created or reopened; it is now in `workstream.list`.',
    payload: z.strictObject({ wsId: NonEmpty }).meta({ id: 'WorkstreamOpened' }),
  }),
  'workstream.closed': row({
    ...ofWorkstream,
    dropIfSlow: false,
    summary: 'A workstream was unloaded; its conversation stays saved.',
    payload: z.strictObject({ wsId: NonEmpty }).meta({ id: 'WorkstreamClosed' }),
  }),
  'queue.changed': row({
    ...ofWorkstream,
    dropIfSlow: false,
    summary: 'The messages that wait in a workstream: always the full list.',
    payload: z.strictObject({ wsId: NonEmpty, messages: z.array(QueuedMessage) }).meta({ id: 'QueueChanged' }),
  }),
  'workstream.viewers': row({
    ...ofWorkstream,
    dropIfSlow: false,
    summary: 'Somebody began or stopped seeing a workstream (`events.view`): always the full list.',
    payload: z.strictObject({ wsId: NonEmpty, userIds: ViewerIds }).meta({ id: 'WorkstreamViewers' }),
  }),
  'node.pair.requested': row({
    ...broadcast,
    scope: 'approve',
    permission: LENDING,
    dropIfSlow: false,
    summary: 'A machine asks to be paired as a node.',
    payload: NodePairing,
  }),
  'node.pair.resolved': row({
    ...broadcast,
    scope: 'approve',
    permission: LENDING,
    direct: 'pairing',
    dropIfSlow: false,
    summary: 'A pairing request was approved or rejected, or has expired; the waiting node receives it, too.',
    payload: NodePairResolved,
  }),
  'node.pair.token': row({
    ...direct,
    scope: 'pairing',
    summary: 'The token of a node, sent to the connection whose request was approved.',
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
    summary: 'To a node: stop this command, because its run was cancelled, and answer with its result.',
    payload: NodeInvokeCancel,
  }),
  'node.event': row({ ...broadcast, summary: 'A node sent an event with `node.event`.', payload: NodeEvent }),
  presence: row({
    ...broadcast,
    versioned: true,
    summary: 'Who is connected: always the full list.',
    payload: z.strictObject({ presence: z.array(PresenceEntry) }).meta({ id: 'PresenceEvent' }),
  }),
  tick: row({
    ...broadcast,
    scope: 'public',
    summary: 'A keepalive every tickIntervalMs.',
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
    summary: 'A turn of the main session without a typed message has ended.',
    payload: HeartbeatEvent,
  }),
  cron: row({
    ...broadcast,
    dropIfSlow: false,
    summary: 'A job was changed, started, ended or could not run.',
    payload: CronEvent,
  }),
  'voicewake.changed': row({
    ...broadcast,
    summary: 'The wake words of voice clients were set.',
    payload: VoiceWake,
  }),
  shutdown: row({
    ...broadcast,
    scope: 'public',
    dropIfSlow: false,
    summary: 'The daemon is stopping; sockets close with 1012.',
    payload: z
      .strictObject({ reason: NonEmpty, restartExpectedMs: z.int().min(0).optional() })
      .meta({ id: 'ShutdownEvent' }),
  }),
} as const;

/** The `event` of an event frame. */
export type GatewayEventName = keyof typeof GATEWAY_EVENTS;
/** The payload of an event. */
export type GatewayEventPayload<E extends GatewayEventName> = z.infer<(typeof GATEWAY_EVENTS)[E]['payload']>;
