import { z } from 'zod';
import { always, contract } from '../contract.ts';
import { IdempotencyKey, NonEmpty, nullishText, optionalText } from '../frames.ts';
import { PlainName } from '../text/plain-text.ts';
import type { Permission } from './accounts/permissions.ts';

/** One of them is needed to pair machines, and to use and change nodes. */
export const LENDING = ['approve', 'admin.nodes'] as const satisfies readonly Permission[];

const Ms = z.int().min(0);
/** A node's claims about itself are shown to people, so they are kept short. */
const SHORT = 128;
const Short = NonEmpty.max(SHORT);
const NodeId = Short;
const Names = z.array(Short).max(128);
const RequestId = z.strictObject({ requestId: NonEmpty });
const empty = z.strictObject({});

/** The node's own claims, except `remoteIp`, the address of its connection. */
const about = {
  nodeId: NodeId,
  displayName: Short.optional(),
  platform: Short.optional(),
  version: Short.optional(),
  deviceFamily: Short.optional(),
  modelIdentifier: Short.optional(),
  remoteIp: Short.optional(),
};

/** The same fields in requests, with stricter rules. Rows that an earlier version stored are shown unchanged. */
const Name = PlainName.min(1).max(SHORT);
const claimed = {
  nodeId: Name,
  displayName: Name.optional(),
  platform: Name.optional(),
  version: Name.optional(),
  deviceFamily: Name.optional(),
  modelIdentifier: Name.optional(),
  remoteIp: Name.optional(),
  caps: z.array(Name).max(128).optional(),
  commands: z.array(Name).max(128).optional(),
};

/** A machine that asks to become a node. `isRepair`: it is already a node, and approving gives it a new token. */
export const NodePairing = z
  .strictObject({
    requestId: NonEmpty,
    ...about,
    caps: Names.optional(),
    commands: Names.optional(),
    silent: z.boolean().optional(),
    isRepair: z.boolean(),
    ts: Ms,
  })
  .meta({ id: 'NodePairing' });
export type NodePairing = z.infer<typeof NodePairing>;

/** A paired node, never with its token. */
export const PairedNode = z
  .strictObject({ ...about, caps: Names.optional(), commands: Names.optional(), createdAtMs: Ms, approvedAtMs: Ms })
  .meta({ id: 'PairedNode' });
export type PairedNode = z.infer<typeof PairedNode>;

/**
 * Begins the capability by which a node names its process: `process:` and an id that is new with each start. Lists do not show it.
 * A node that comes back with another id has forgotten what it was running (PROTOCOL.md, "Commands").
 */
export const PROCESS_CAP = 'process:';

/**
 * `caps` and `commands` are sorted; the commands are the ones approved last. `lastSeenAtMs`: only with `extended`, for a
 * node that was connected before and is not now.
 */
const NodeRow = z
  .strictObject({
    ...about,
    caps: Names,
    commands: Names,
    paired: z.boolean(),
    connected: z.boolean(),
    lastSeenAtMs: Ms.optional(),
  })
  .meta({ id: 'NodeRow' });
export type NodeRow = z.infer<typeof NodeRow>;

const Token = z.string().regex(/^node_[0-9a-f]{64}$/);

/** The decision about a pairing request, sent to its machine and to all approvers. */
export const NodePairResolved = z
  .strictObject({ requestId: NonEmpty, nodeId: NodeId, decision: z.enum(['approved', 'rejected', 'expired']), ts: Ms })
  .meta({ id: 'NodePairResolved' });
export type NodePairResolved = z.infer<typeof NodePairResolved>;

/** The token of a new node, sent only to its machine and only once. */
export const NodePairToken = z
  .strictObject({ requestId: NonEmpty, nodeId: NodeId, token: Token })
  .meta({ id: 'NodePairToken' });

/** A command for a node. `timeoutMs` counts from its arrival; after that, the node stops the command and answers so. */
export const NodeInvokeRequest = z
  .strictObject({
    id: NonEmpty,
    nodeId: NodeId,
    command: Short,
    /** The params of the call as JSON text. */
    paramsJSON: z.string().nullable(),
    timeoutMs: Ms,
    idempotencyKey: NonEmpty,
  })
  .meta({ id: 'NodeInvokeRequest' });
export type NodeInvokeRequest = z.infer<typeof NodeInvokeRequest>;

/** The command is no longer needed. */
export const NodeInvokeCancel = z.strictObject({ id: NonEmpty, nodeId: NodeId }).meta({ id: 'NodeInvokeCancel' });
export type NodeInvokeCancel = z.infer<typeof NodeInvokeCancel>;

/** An event that a node sent. */
export const NodeEvent = z
  .strictObject({ nodeId: NodeId, event: Short, payload: z.unknown().optional(), ts: Ms })
  .meta({ id: 'NodeEvent' });

const NodeInvokeResultParams = z
  .strictObject({
    id: NonEmpty,
    nodeId: NodeId,
    ok: z.boolean(),
    payload: z.unknown().optional(),
    /** The payload as JSON text, as an alternative to `payload`. */
    payloadJSON: nullishText(),
    error: z.strictObject({ code: optionalText(SHORT), message: optionalText() }).nullish(),
  })
  .meta({ id: 'NodeInvokeResultParams' });
export type NodeInvokeResultParams = z.infer<typeof NodeInvokeResultParams>;

const NodeInvokeResult = z
  .strictObject({
    ok: z.literal(true),
    nodeId: NodeId,
    command: Short,
    payload: z.unknown(),
    /** The text that the node sent; null if it sent a value. */
    payloadJSON: z.string().nullable(),
  })
  .meta({ id: 'NodeInvokeResult' });
export type NodeInvokeResult = z.infer<typeof NodeInvokeResult>;

const pairing = {
  'node.pair.request': contract({
    summary: 'Ask to be paired as a node; the decision comes as an event on the same connection.',
    scope: 'pairing',
    params: () => z.strictObject({ ...claimed, silent: z.boolean().optional() }).meta({ id: 'NodePairRequestParams' }),
    result: () =>
      z
        .strictObject({ status: z.literal('pending'), request: NodePairing, created: z.boolean() })
        .meta({ id: 'NodePairRequestResult' }),
  }),
  'node.pair.list': contract({
    summary: 'Pairing requests and paired machines, newest first, never with a token.',
    scope: 'approve',
    permission: LENDING,
    params: () => empty.meta({ id: 'NodePairListParams' }),
    result: () =>
      z.strictObject({ pending: z.array(NodePairing), paired: z.array(PairedNode) }).meta({ id: 'NodePairListResult' }),
  }),
  'node.pair.approve': contract({
    summary: 'Pair a node with the commands it named; its earlier token becomes invalid at once.',
    scope: 'approve',
    permission: LENDING,
    audit: { action: 'node.pair.approve', id: 'requestId' },
    stepUp: always,
    refusesServices: true,
    serial: () => 'nodes',
    params: () => RequestId.meta({ id: 'NodePairApproveParams' }),
    result: () =>
      z
        .strictObject({ requestId: NonEmpty, node: z.strictObject({ ...PairedNode.shape, token: Token }) })
        .meta({ id: 'NodePairApproveResult' }),
  }),
  'node.pair.reject': contract({
    summary: 'Refuse a pairing request.',
    scope: 'approve',
    permission: LENDING,
    audit: { action: 'node.pair.reject', id: 'requestId' },
    params: () => RequestId.meta({ id: 'NodePairRejectParams' }),
    result: () => z.strictObject({ requestId: NonEmpty, nodeId: NodeId }).meta({ id: 'NodePairRejectResult' }),
  }),
  'node.pair.verify': contract({
    summary: 'Check whether a token belongs to a node.',
    scope: 'approve',
    permission: LENDING,
    weight: 10,
    params: () => z.strictObject({ nodeId: NodeId, token: NonEmpty.max(256) }).meta({ id: 'NodePairVerifyParams' }),
    result: () => z.strictObject({ ok: z.boolean(), node: PairedNode.optional() }).meta({ id: 'NodePairVerifyResult' }),
  }),
};

/** Nodes: pairing, listing, invoking, their tokens. */
export const nodeContracts = {
  ...pairing,
  'node.list': contract({
    summary: 'Paired nodes: connected ones first, then by name. `extended` adds when disconnected ones were last seen.',
    scope: 'read',
    params: () => z.strictObject({ extended: z.boolean().optional() }).meta({ id: 'NodeListParams' }),
    result: () => z.strictObject({ ts: Ms, nodes: z.array(NodeRow) }).meta({ id: 'NodeListResult' }),
  }),
  'node.describe': contract({
    summary: 'One paired node.',
    scope: 'read',
    params: () => z.strictObject({ nodeId: NodeId }).meta({ id: 'NodeDescribeParams' }),
    result: () => z.strictObject({ ts: Ms, ...NodeRow.shape }).meta({ id: 'NodeDescribeResult' }),
  }),
  'node.rename': contract({
    summary: 'Change the display name of a node.',
    scope: 'approve',
    permission: LENDING,
    audit: { action: 'node.rename', id: 'nodeId' },
    serial: () => 'nodes',
    params: () => z.strictObject({ nodeId: NodeId, displayName: Name }).meta({ id: 'NodeRenameParams' }),
    result: () => z.strictObject({ nodeId: NodeId, displayName: Short }).meta({ id: 'NodeRenameResult' }),
  }),
  'node.invoke': contract({
    summary: 'Run a command on a node, at most once per key; a repeat also gets a late result.',
    scope: 'approve',
    permission: LENDING,
    idempotency: 'required',
    params: () =>
      z
        .strictObject({
          nodeId: NodeId,
          command: Short,
          params: z.unknown().optional(),
          /** Timeout for the command and its answer. Default, also for 0: 30 s. */
          timeoutMs: Ms.max(86_400_000).optional(),
          idempotencyKey: IdempotencyKey,
        })
        .meta({ id: 'NodeInvokeParams' }),
    result: () => NodeInvokeResult,
  }),
  'node.invoke.result': contract({
    summary: 'A node’s answer to `node.invoke.request`; `ignored` if the request is unknown or already answered.',
    scope: 'node',
    params: () => NodeInvokeResultParams,
    result: () =>
      z
        .strictObject({ ok: z.literal(true), ignored: z.literal(true).optional() })
        .meta({ id: 'NodeInvokeResultResult' }),
  }),
  'node.event': contract({
    summary: 'Send an event from a node; clients with the read scope receive it as `node.event`.',
    scope: 'node',
    weight: 3,
    params: () =>
      z
        .strictObject({
          event: Name,
          payload: z.unknown().optional(),
          payloadJSON: nullishText(65_536),
        })
        .meta({ id: 'NodeEventParams' }),
    result: () => z.strictObject({ ok: z.literal(true) }).meta({ id: 'NodeEventResult' }),
  }),
  'node.token.rotate': contract({
    summary: 'Give a node a new token, shown only once; open connections with the old one are closed.',
    scope: 'approve',
    permission: LENDING,
    audit: { action: 'node.token.rotate', id: 'nodeId' },
    stepUp: always,
    refusesServices: true,
    serial: () => 'nodes',
    params: () => z.strictObject({ nodeId: NodeId }).meta({ id: 'NodeTokenRotateParams' }),
    result: () => z.strictObject({ nodeId: NodeId, token: Token }).meta({ id: 'NodeTokenRotateResult' }),
  }),
  'node.token.revoke': contract({
    summary: 'End a node’s pairing and close its connections.',
    scope: 'approve',
    permission: LENDING,
    audit: { action: 'node.token.revoke', id: 'nodeId' },
    stepUp: always,
    serial: () => 'nodes',
    params: () => z.strictObject({ nodeId: NodeId }).meta({ id: 'NodeTokenRevokeParams' }),
    result: () => z.strictObject({ nodeId: NodeId, revoked: z.literal(true) }).meta({ id: 'NodeTokenRevokeResult' }),
  }),
};
