import { z } from 'zod';
import { contract } from '../contract.ts';
import { IdempotencyKey, NonEmpty, nullishText, optionalText } from '../frames.ts';
import { PlainName } from '../plain-text.ts';

const Ms = z.int().min(0);
/** What a node says of itself is shown to people, so it is kept short. */
const SHORT = 128;
const Short = NonEmpty.max(SHORT);
const NodeId = Short;
const Names = z.array(Short).max(128);
const RequestId = z.strictObject({ requestId: NonEmpty });
const empty = z.strictObject({});

/** All of it is the node's own claim, but `remoteIp`: that is where its connection comes from. */
const about = {
  nodeId: NodeId,
  displayName: Short.optional(),
  platform: Short.optional(),
  version: Short.optional(),
  deviceFamily: Short.optional(),
  modelIdentifier: Short.optional(),
  remoteIp: Short.optional(),
};

/** The same as a request may say it. Rows that an earlier version stored are shown as they are. */
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

/** A machine that asks to become a node. `isRepair`: it is one already; approving gives it a new token. */
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

/** As people and programs see it: never with its token. */
export const PairedNode = z
  .strictObject({ ...about, caps: Names.optional(), commands: Names.optional(), createdAtMs: Ms, approvedAtMs: Ms })
  .meta({ id: 'PairedNode' });
export type PairedNode = z.infer<typeof PairedNode>;

/**
 * `caps` and `commands` are sorted; the commands are those that were approved last. `lastSeenAtMs`: only with `extended`,
 * of a node that is away and has been here.
 */
const NodeRow = z
  .strictObject({
    ...{ ...about, caps: Names, commands: Names, paired: z.boolean(), connected: z.boolean() },
    lastSeenAtMs: Ms.optional(),
  })
  .meta({ id: 'NodeRow' });
export type NodeRow = z.infer<typeof NodeRow>;

const Token = z.string().regex(/^node_[0-9a-f]{64}$/);

/** What became of a pairing request; to its machine and to everybody who may approve. */
export const NodePairResolved = z
  .strictObject({ requestId: NonEmpty, nodeId: NodeId, decision: z.enum(['approved', 'rejected', 'expired']), ts: Ms })
  .meta({ id: 'NodePairResolved' });
export type NodePairResolved = z.infer<typeof NodePairResolved>;

/** The token of a new node, sent to its machine alone and this once. */
export const NodePairToken = z
  .strictObject({ requestId: NonEmpty, nodeId: NodeId, token: Token })
  .meta({ id: 'NodePairToken' });

/** `timeoutMs` counts from its arrival; a node that is not ready by then stops the command and says so. */
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

/** Nobody waits for it any more. */
export const NodeInvokeCancel = z.strictObject({ id: NonEmpty, nodeId: NodeId }).meta({ id: 'NodeInvokeCancel' });
export type NodeInvokeCancel = z.infer<typeof NodeInvokeCancel>;

/** Something that a node told of. */
export const NodeEvent = z
  .strictObject({ nodeId: NodeId, event: Short, payload: z.unknown().optional(), ts: Ms })
  .meta({ id: 'NodeEvent' });

const NodeInvokeResultParams = z
  .strictObject({
    id: NonEmpty,
    nodeId: NodeId,
    ok: z.boolean(),
    payload: z.unknown().optional(),
    /** The payload as JSON text, for nodes that have it so. */
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
    /** As the node sent it; null when it sent a value. */
    payloadJSON: z.string().nullable(),
  })
  .meta({ id: 'NodeInvokeResult' });
export type NodeInvokeResult = z.infer<typeof NodeInvokeResult>;

const pairing = {
  'node.pair.request': contract({
    summary: 'Ask to be paired as a node; the outcome comes as an event on the same connection.',
    scope: 'pairing',
    params: z.strictObject({ ...claimed, silent: z.boolean().optional() }).meta({ id: 'NodePairRequestParams' }),
    result: z
      .strictObject({ status: z.literal('pending'), request: NodePairing, created: z.boolean() })
      .meta({ id: 'NodePairRequestResult' }),
  }),
  'node.pair.list': contract({
    summary: 'Machines that ask to be paired, and those that are; newest first, never with a token.',
    scope: 'approve',
    params: empty.meta({ id: 'NodePairListParams' }),
    result: z
      .strictObject({ pending: z.array(NodePairing), paired: z.array(PairedNode) })
      .meta({ id: 'NodePairListResult' }),
  }),
  'node.pair.approve': contract({
    summary: 'Pair a node with the commands it named; an earlier token of it ends at once.',
    scope: 'approve',
    params: RequestId.meta({ id: 'NodePairApproveParams' }),
    result: z
      .strictObject({ requestId: NonEmpty, node: z.strictObject({ ...PairedNode.shape, token: Token }) })
      .meta({ id: 'NodePairApproveResult' }),
  }),
  'node.pair.reject': contract({
    summary: 'Refuse a pairing request.',
    scope: 'approve',
    params: RequestId.meta({ id: 'NodePairRejectParams' }),
    result: z.strictObject({ requestId: NonEmpty, nodeId: NodeId }).meta({ id: 'NodePairRejectResult' }),
  }),
  'node.pair.verify': contract({
    summary: 'Whether this is the token of this node.',
    scope: 'approve',
    weight: 10,
    params: z.strictObject({ nodeId: NodeId, token: NonEmpty.max(256) }).meta({ id: 'NodePairVerifyParams' }),
    result: z.strictObject({ ok: z.boolean(), node: PairedNode.optional() }).meta({ id: 'NodePairVerifyResult' }),
  }),
};

/** Nodes: pairing, listing, invoking, their tokens. */
export const nodeContracts = {
  ...pairing,
  'node.list': contract({
    summary: 'Paired nodes: connected ones first, then by name; `extended`: with when those that are away were here.',
    scope: 'read',
    params: z.strictObject({ extended: z.boolean().optional() }).meta({ id: 'NodeListParams' }),
    result: z.strictObject({ ts: Ms, nodes: z.array(NodeRow) }).meta({ id: 'NodeListResult' }),
  }),
  'node.describe': contract({
    summary: 'One paired node.',
    scope: 'read',
    params: z.strictObject({ nodeId: NodeId }).meta({ id: 'NodeDescribeParams' }),
    result: z.strictObject({ ts: Ms, ...NodeRow.shape }).meta({ id: 'NodeDescribeResult' }),
  }),
  'node.rename': contract({
    summary: 'Give a node another name for people.',
    scope: 'approve',
    params: z.strictObject({ nodeId: NodeId, displayName: Name }).meta({ id: 'NodeRenameParams' }),
    result: z.strictObject({ nodeId: NodeId, displayName: Short }).meta({ id: 'NodeRenameResult' }),
  }),
  'node.invoke': contract({
    summary: 'Run a command on a node, at most once per key; a repeat gets a result that came late.',
    scope: 'approve',
    idempotency: 'required',
    params: z
      .strictObject({
        nodeId: NodeId,
        command: Short,
        params: z.unknown().optional(),
        /** For the whole of it, both ways; 0 and nothing are 30 s. */
        timeoutMs: Ms.max(86_400_000).optional(),
        idempotencyKey: IdempotencyKey,
      })
      .meta({ id: 'NodeInvokeParams' }),
    result: NodeInvokeResult,
  }),
  'node.invoke.result': contract({
    summary: 'A node’s answer to `node.invoke.request`; `ignored` when nobody asked, or it was answered already.',
    scope: 'node',
    params: NodeInvokeResultParams,
    result: z
      .strictObject({ ok: z.literal(true), ignored: z.literal(true).optional() })
      .meta({ id: 'NodeInvokeResultResult' }),
  }),
  'node.event': contract({
    summary: 'A node tells of something; clients that may read receive it as an event of this name.',
    scope: 'node',
    weight: 3,
    params: z
      .strictObject({
        event: Name,
        payload: z.unknown().optional(),
        payloadJSON: nullishText(65_536),
      })
      .meta({ id: 'NodeEventParams' }),
    result: z.strictObject({ ok: z.literal(true) }).meta({ id: 'NodeEventResult' }),
  }),
  'node.token.rotate': contract({
    summary: 'Give a node a new token, shown this once; open connections under the old one end.',
    scope: 'approve',
    params: z.strictObject({ nodeId: NodeId }).meta({ id: 'NodeTokenRotateParams' }),
    result: z.strictObject({ nodeId: NodeId, token: Token }).meta({ id: 'NodeTokenRotateResult' }),
  }),
  'node.token.revoke': contract({
    summary: 'End a node’s pairing, and its open connections.',
    scope: 'approve',
    params: z.strictObject({ nodeId: NodeId }).meta({ id: 'NodeTokenRevokeParams' }),
    result: z.strictObject({ nodeId: NodeId, revoked: z.literal(true) }).meta({ id: 'NodeTokenRevokeResult' }),
  }),
};
