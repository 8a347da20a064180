import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import { type NodeCall, type NodeDirectory, Unanswered } from '../../agent/tools/node.ts';
import type { NodesConfig } from '../../lending/command-policy.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { toNodeDirectory } from '../nodes/node-directory.ts';
import { openNodeGateway, requestTo } from '../testing/node-gateway.ts';
import { farNodes, serveInvocation } from './far-nodes.ts';
import { joinedLinks, settle } from './links/joined-links-fixture.ts';
import { createLeadLink } from './links/lead-link.ts';

const CALL: NodeCall = {
  ...{ nodeId: 'n1', command: 'camera.snap', params: { deep: true }, timeoutMs: 5_000, pairing: '7' },
  ...{ toolCall: 'ws:1', wasInterrupted: false },
};
const GOING_ON = new AbortController().signal;

/** A worker, and active daemons that it joins one after the other. */
function world() {
  const clock = fakeClock(1_000);
  const lead = createLeadLink({ clock });
  /** `nodes`: those of the daemon. */
  const join = (nodes: NodeDirectory) => {
    const link = joinedLinks({
      answered: {
        answer: async (what, body, asked) =>
          what === 'nodes' ? nodes.list(asked.signal) : serveInvocation(body, asked, nodes),
      },
    });
    lead.joined(link.asked);
    return link;
  };
  return { clock, join, nodes: farNodes(lead) };
}

/** What a promise rejects with. */
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => assert.fail(`answered: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );

const listsNothing = { list: async () => [] };
const answering = (invoke: NodeDirectory['invoke']): NodeDirectory => ({ ...listsNothing, invoke });
const never = () => new Promise<never>(() => undefined);

/** The active daemon with its real nodes, and a worker that has joined it. */
async function wholeWorld(nodeRules: () => NodesConfig = () => ({})) {
  const gateway = await openNodeGateway({ nodeRules });
  const far = world();
  const link = far.join(toNodeDirectory(gateway.nodes));
  const callOf = async (more: Partial<NodeCall> = {}): Promise<NodeCall> => {
    const [node] = await far.nodes.list(GOING_ON);
    return { ...CALL, pairing: node?.pairing ?? '', ...more };
  };
  return { gateway, far, link, callOf, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

test('a worker lists the nodes of the active daemon, with who is connected, and runs a command on one', async () => {
  await using whole = await wholeWorld();
  const { gateway, far, callOf } = whole;
  assert.deepEqual(await far.nodes.list(GOING_ON), []);
  const node = await gateway.join('n1');
  await gateway.arrives('n1');
  const own = await toNodeDirectory(gateway.nodes).list(GOING_ON);
  assert.deepEqual(await far.nodes.list(GOING_ON), JSON.parse(JSON.stringify(own)));
  assert.deepEqual(
    own.map(({ nodeId, isConnected }) => [nodeId, isConnected]),
    [['n1', true]],
  );
  const result = far.nodes.invoke(await callOf(), GOING_ON);
  const { id, ...request } = await requestTo(node);
  assert.deepEqual(request, {
    ...{ nodeId: 'n1', command: 'camera.snap', paramsJSON: '{"deep":true}', timeoutMs: 5_000, idempotencyKey: 'ws:1' },
  });
  await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: { seen: ['x'.repeat(1_000_000)] } });
  assert.deepEqual(await result, { seen: ['x'.repeat(1_000_000)] });
  node.socket.close();
  await gateway.leaves('n1');
  assert.equal((await far.nodes.list(GOING_ON))[0]?.isConnected, false);
});

test('the rules of the active daemon hold, and an error of the node is that of the call', async () => {
  let rules: NodesConfig = { n1: { deny: ['camera.*'] } };
  await using whole = await wholeWorld(() => rules);
  const { gateway, far, callOf } = whole;
  const node = await gateway.join('n1');
  await gateway.arrives('n1');
  const call = await callOf();
  await assert.rejects(far.nodes.invoke(call, GOING_ON), /not allowed: camera\.snap \(denied by config\.json\)/);
  await assert.rejects(far.nodes.invoke({ ...call, pairing: 'former' }, GOING_ON), { code: 'CONFLICT' });
  rules = {};
  const failed = failureOf(far.nodes.invoke(call, GOING_ON));
  const { id } = await requestTo(node);
  await node.call('node.invoke.result', {
    id,
    nodeId: 'n1',
    ok: false,
    error: { code: 'NOT_FOUND', message: 'no lens' },
  });
  const error = await failed;
  assert.ok(error instanceof GatewayError);
  assert.deepEqual([error.code, error.message], ['NOT_FOUND', 'no lens']);
});

test('a cancelled run ends its command on the node, and one that a restart interrupts does not', async () => {
  await using whole = await wholeWorld();
  const { gateway, far, link, callOf } = whole;
  const node = await gateway.join('n1');
  await gateway.arrives('n1');
  const called: string[] = [];
  for (const [index, kind] of (['cancel', 'timeout', 'shutdown'] as const).entries()) {
    const stop = new AbortController();
    const failed = failureOf(far.nodes.invoke(await callOf({ toolCall: `ws:${kind}` }), stop.signal));
    const { id } = await requestTo(node, index + 1);
    if (kind !== 'shutdown') called.push(id);
    stop.abort(new StopReason(kind, 'over'));
    assert.equal(await failed, stop.signal.reason);
    await settle();
    await node.call('node.event', { event: 'a round trip' });
  }
  const cancels = node.events().filter(({ event }) => event === 'node.invoke.cancel');
  assert.deepEqual(
    cancels.map(({ payload }) => payload),
    called.map((id) => ({ id, nodeId: 'n1' })),
  );
  assert.deepEqual(link.log.lines, [], 'a cancelled question is no fault');
});

test('after the loss of the active daemon, the next one returns the result, and the node runs the command once', async () => {
  await using whole = await wholeWorld();
  const { gateway, far, link, callOf } = whole;
  const token = await gateway.pair('n1');
  const node = await gateway.connect({ nodeId: 'n1', token });
  await gateway.arrives('n1');
  const result = far.nodes.invoke(await callOf(), GOING_ON);
  const { id } = await requestTo(node);
  link.asked.end('it is silent');
  await gateway.crash();
  far.join(toNodeDirectory(gateway.nodes));
  const back = await gateway.connect({ nodeId: 'n1', token });
  await gateway.arrives('n1');
  await back.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'once' });
  assert.equal(await result, 'once');
  assert.deepEqual(
    back.events().filter(({ event }) => event === 'node.invoke.request'),
    [],
  );
});

/** The class of an error, and its text. */
const shown = async (failure: Promise<unknown>) => {
  const error = await failure;
  return error instanceof Error ? { name: error.name, message: error.message } : error;
};

const UNKNOWN = { name: 'Unanswered', message: 'The active daemon was lost during the command.' };

test('a command whose active daemon is lost has an unknown outcome if no other comes', async () => {
  const { clock, join, nodes } = world();
  const link = join(answering(never));
  const failed = failureOf(nodes.invoke(CALL, GOING_ON));
  await settle();
  link.asked.end('it is silent');
  await settle();
  await clock.advance(20_000);
  assert.deepEqual(await shown(failed), UNKNOWN);
});

test('after a loss, only the node itself says that a command has failed', async () => {
  const refusals: [Error, object][] = [
    [new GatewayError('CONFLICT', 'nothing was sent'), UNKNOWN],
    [new Error('no database'), UNKNOWN],
    [
      new Unanswered('The node did not answer in time.'),
      { name: 'Unanswered', message: 'The node did not answer in time.' },
    ],
    [
      new GatewayError('NOT_FOUND', 'no lens', { details: { nodeError: { code: 'NOT_FOUND', message: 'no lens' } } }),
      { name: 'GatewayError', message: 'no lens' },
    ],
  ];
  for (const [refusal, expected] of refusals) {
    const lost = world();
    const link = lost.join(answering(never));
    const failed = failureOf(lost.nodes.invoke(CALL, GOING_ON));
    await settle();
    link.asked.end('it is silent');
    await settle();
    lost.join(answering(() => Promise.reject(refusal)));
    const restarted = world();
    restarted.join(answering(() => Promise.reject(refusal)));
    const again = failureOf(restarted.nodes.invoke({ ...CALL, wasInterrupted: true }, GOING_ON));
    assert.deepEqual(await Promise.all([failed, again].map(shown)), [
      expected,
      expected === UNKNOWN ? { ...UNKNOWN, message: 'Headgate was restarted during the command.' } : expected,
    ]);
  }
});

test('a command that could not be sent has failed', async () => {
  const { clock, nodes } = world();
  const failed = failureOf(nodes.invoke(CALL, GOING_ON));
  await clock.advance(20_000);
  assert.match(String(await failed), /^GatewayError: The active daemon cannot be reached now/);
  const listed = failureOf(nodes.list(GOING_ON));
  await clock.advance(15_000);
  assert.match(String(await listed), /^GatewayError: The active daemon cannot be reached now/);
});
