import { GatewayError } from '../../../protocol/errors.ts';
import type { GatewayEventPayload } from '../../../protocol/events/gateway.ts';
import type { Params } from '../../../protocol/index.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { nodeContracts } from '../../../protocol/methods/node.ts';
import type { Clock } from '../../clock.ts';
import type { Call, Handlers } from '../call.ts';
import { readJson } from '../connections/json-text.ts';
import { cleanValue } from '../nodes/clean-outcome.ts';
import type { Nodes } from '../nodes/nodes.ts';

interface NodeMethodDeps {
  nodes: Nodes;
  broadcast: { publish(event: 'node.event', payload: GatewayEventPayload<'node.event'>): void };
  clock: Pick<Clock, 'now'>;
}

export function nodeMethods({ nodes, broadcast, clock }: NodeMethodDeps): Handlers<keyof typeof nodeContracts> {
  const { paired, invocations } = nodes;
  return {
    ...pairingMethods(nodes),
    'node.list': (asked) => ({ ts: clock.now(), nodes: nodes.list(asked) }),
    'node.describe': ({ nodeId }) => {
      if (!nodeId.trim()) throw required('nodeId');
      return { ts: clock.now(), ...nodes.describe(nodeId) };
    },
    'node.rename': async ({ nodeId, displayName }, { audited }) => {
      await paired.rename(nodeId, displayName, audited());
      return { nodeId, displayName };
    },
    'node.invoke': (asked, { kept, keep, signal }) => {
      if (isKept(kept)) return invocations.resume(kept.invokeId, signal);
      const { idempotencyKey: key, timeoutMs = LIMITS.nodeInvokeMs } = asked;
      if (!asked.nodeId.trim() || !asked.command.trim()) throw required('nodeId and command');
      return invocations.start(
        { ...asked, params: asked.params, timeoutMs, key, keep: (invokeId) => keep({ invokeId }) },
        signal,
      );
    },
    'node.invoke.result': async (result, { principal }) => {
      const nodeId = ownId(principal, result.nodeId);
      return (await invocations.finish(nodeId, result)) ? { ok: true } : { ok: true, ignored: true };
    },
    'node.event': ({ event, payload: sent, payloadJSON }, { principal }) => {
      const payload = sent ?? payloadOf(payloadJSON ?? undefined);
      // The payload is sent to every reader.
      if (JSON.stringify(payload ?? null).length > MAX_EVENT_CHARS) {
        throw new GatewayError('PAYLOAD_TOO_LARGE', `payload: must have at most ${MAX_EVENT_CHARS} characters as JSON`);
      }
      const nodeId = ownId(principal);
      const told = {
        event: nodes.clean(event),
        ...(payload !== undefined && { payload: cleanValue(payload, nodes.clean) }),
      };
      broadcast.publish('node.event', { nodeId, ...told, ts: clock.now() });
      return { ok: true };
    },
    'node.token.rotate': async ({ nodeId }, { audited }) => ({ nodeId, token: await paired.rotate(nodeId, audited()) }),
    'node.token.revoke': async ({ nodeId }, { audited }) => {
      await paired.revoke(nodeId, audited());
      return { nodeId, revoked: true };
    },
  };
}

const MAX_EVENT_CHARS = 65_536;

function pairingMethods({ paired, requests }: Nodes) {
  return {
    'node.pair.request': (asked, { principal, link, address }) => {
      const isNode = principal?.source.kind === 'node' || principal?.source.kind === 'unpaired';
      const nodeId = isNode ? ownId(principal, asked.nodeId) : asked.nodeId;
      // The address of a node is taken from its connection and not from its claim. For another machine, only the
      // caller's claim is available.
      const { remoteIp, ...said } = asked;
      const from = isNode ? address : remoteIp;
      const isRepair = paired.find(nodeId) !== undefined;
      const claim = { ...said, ...(from && { remoteIp: from }), isRepair };
      return { status: 'pending', ...requests.ask(claim, isNode ? link : undefined) };
    },
    'node.pair.list': () => ({ pending: requests.list(), paired: paired.list() }),
    'node.pair.approve': async ({ requestId }, { principal, audited }) => {
      const { node, retire, link } = await requests.settle(requestId, 'approved', async ({ request, link }) => {
        const { nodeId, commands } = request;
        // Its former token ends, so a token that does not arrive would lock it out.
        if (link && !(await link.isAlive())) throw notThere();
        return { ...(await paired.approve(request, principal?.id ?? '', audited({ nodeId, commands }))), link };
      });
      link?.send('node.pair.token', { requestId, nodeId: node.nodeId, token: node.token });
      retire(); // last, because the node may have called on a connection with its old token
      return { requestId, node };
    },
    'node.pair.reject': async ({ requestId }) => ({
      requestId,
      nodeId: await requests.settle(requestId, 'rejected', ({ request }) => request.nodeId),
    }),
    'node.pair.verify': ({ nodeId, token }) => {
      const node = paired.authenticate(nodeId, token) && paired.find(nodeId);
      return node === undefined ? { ok: false } : { ok: true, node };
    },
  } satisfies Partial<Handlers>;
}

const notThere = () =>
  new GatewayError('UNAVAILABLE', 'The node does not answer. It requests pairing again once it has reconnected', {
    retryable: false,
  });

const required = (what: string) => new GatewayError('INVALID_REQUEST', `${what} required`);

/** The calling node, which may only act for itself. */
function ownId(principal: Call['principal'], claimed?: Params<'node.describe'>['nodeId']): string {
  const source = principal?.source;
  if (source?.kind !== 'node' && source?.kind !== 'unpaired') throw new GatewayError('FORBIDDEN', 'only for nodes');
  if (claimed !== undefined && claimed !== source.nodeId) throw new GatewayError('INVALID_REQUEST', 'nodeId mismatch');
  return source.nodeId;
}

/** The value that `keep` stored. */
const isKept = (kept: unknown): kept is { invokeId: string } =>
  typeof kept === 'object' && kept !== null && 'invokeId' in kept;

function payloadOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const json = readJson(text);
  return json.kind === 'read' ? json.value : { payloadJSON: text };
}
