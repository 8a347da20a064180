import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { testGuard } from '../guard/guard-fixture.ts';
import { StopReason } from '../stop-reason.ts';
import { approvalDigest } from './approval-digest.ts';
import { createNodeTool, type NodeCall, type NodeDirectory, type NodeSummary, Unanswered } from './node.ts';
import { createToolFixture, execute, recordRun, toShown } from './tool-fixture.ts';
import { createToolbox } from './toolbox.ts';

const box: NodeSummary = {
  ...{ nodeId: 'ab12', name: 'box', platform: 'linux', commands: ['file.read', 'system.info'] },
  ...{ isConnected: true, pairing: '7' },
};

async function setUp(
  nodes: NodeSummary[] = [box],
  invoke: NodeDirectory['invoke'] = async () => ({ load: 1 }),
  list: NodeDirectory['list'] = async () => nodes,
) {
  const fixture = await createToolFixture();
  const calls: NodeCall[] = [];
  const tool = createNodeTool({
    list,
    invoke(call, signal) {
      calls.push(call);
      return invoke(call, signal);
    },
  });
  const prepare = (args: Parameters<typeof tool.prepare>[0], wasInterrupted?: boolean) =>
    tool.prepare(args, { ...fixture.context(), ...(wasInterrupted !== undefined && { wasInterrupted }) });
  return { tool, calls, prepare, context: fixture.context(), [Symbol.asyncDispose]: fixture[Symbol.asyncDispose] };
}

const ASKED = { action: 'invoke', node: 'box', command: 'system.info', params: { deep: true } } as const;

test('listing nodes needs no approval', async () => {
  await using world = await setUp([box, { ...box, nodeId: 'cd34', name: 'nas', isConnected: false, commands: [] }]);
  const listed = await world.prepare({ action: 'list' });
  assert.equal(listed.kind === 'ready' && listed.needsApproval, false);
  assert.deepEqual(await execute(listed), {
    output: 'box (ab12, linux, connected): file.read, system.info\nnas (cd34, linux, not connected): no commands',
    outcome: 'done',
  });
});

test('a command needs approval, and shows the node, the command and its params', async () => {
  await using world = await setUp();
  const prepared = await world.prepare(ASKED);
  assert.deepEqual(toShown(prepared), {
    ...{ kind: 'ready', subject: 'system.info on box', approvalLabel: 'node system.info', needsApproval: true },
    effects: { list: [{ kind: 'network', target: 'box', certain: true }] },
    ...{ preview: 'box (ab12)\nsystem.info {\n  "deep": true\n}', bindTo: 'node:ab12:7' },
  });
  assert.deepEqual(await execute(prepared), { output: '{\n  "load": 1\n}', outcome: 'done' });
  assert.deepEqual(world.calls, [
    {
      nodeId: 'ab12',
      command: 'system.info',
      params: { deep: true },
      timeoutMs: 30_000,
      pairing: '7',
      toolCall: 'ws-1:call-1',
      wasInterrupted: false,
    },
  ]);
  await execute(await world.prepare(ASKED, true));
  assert.equal(world.calls[1]?.wasInterrupted, true);
});

test('an approval is bound to the node, its pairing, the command and the params', async () => {
  const digestOf = async (args: object, node: NodeSummary = box) => {
    await using world = await setUp([node]);
    const call = { id: 'call-1', name: 'node', arguments: JSON.stringify({ ...ASKED, ...args }) };
    const prepared = await createToolbox([world.tool], testGuard()).prepare(call, world.context);
    const bindTo = prepared.kind === 'ready' ? prepared.bindTo : undefined;
    return approvalDigest({
      tool: 'node',
      canonicalArguments: prepared.canonicalArguments,
      workdir: { path: '/w', ino: '1' },
      bindTo,
    });
  };
  const digests = await Promise.all([
    digestOf({}),
    digestOf({ command: 'file.read' }),
    digestOf({ params: { deep: false } }),
    digestOf({}, { ...box, pairing: '8' }),
    digestOf({}, { ...box, nodeId: 'ef56' }),
  ]);
  assert.deepEqual([new Set(digests).size, await digestOf({})], [5, digests[0]]);
});

test('an impossible call is refused without a question', async () => {
  await using world = await setUp([box, { ...box, nodeId: 'cd34' }]);
  const reasons = await Promise.all(
    [
      { ...ASKED },
      { ...ASKED, node: 'attic' },
      { ...ASKED, node: 'ab12', command: 'system.run' },
      { action: 'invoke' } as const,
    ].map(async (args) => {
      const prepared = await world.prepare(args);
      return prepared.kind === 'refused' ? prepared.reason : 'ready';
    }),
  );
  assert.deepEqual(reasons, [
    'Several nodes are named "box"; use the id.',
    'Unknown node "attic". Use action list to see the nodes.',
    'box does not lend "system.run".',
    'Unknown node "". Use action list to see the nodes.',
  ]);
});

test('while the nodes cannot be reached, a list fails and a command is refused, with the reason', async () => {
  const away = new GatewayError('UNAVAILABLE', 'The active daemon cannot be reached now.');
  await using world = await setUp([], undefined, () => Promise.reject(away));
  const { message } = away;
  assert.deepEqual(await execute(await world.prepare({ action: 'list' })), {
    output: `Error: ${message}`,
    outcome: 'failed',
  });
  const { kind, ...refused } = await world.prepare(ASKED);
  assert.deepEqual([kind, refused], ['refused', { subject: 'system.info on box', reason: message }]);
});

test('an error becomes an outcome that the model reads', async () => {
  await using world = await setUp([box], () => Promise.reject(new Error('node not connected (ab12)')));
  assert.deepEqual(await execute(await world.prepare(ASKED)), {
    output: 'Error: node not connected (ab12)',
    outcome: 'failed',
  });
  await using stopped = await setUp([box], () => Promise.reject(new StopReason('cancel', 'stop')));
  assert.deepEqual(await execute(await stopped.prepare(ASKED), recordRun()), {
    output: '[cancelled] It is unknown whether the command ran on the node.',
    outcome: 'unknown',
  });
});

test('a command that was sent and has no result has an unknown outcome', async () => {
  await using world = await setUp([box], () => Promise.reject(new Unanswered('The node did not answer in time.')));
  assert.deepEqual(await execute(await world.prepare(ASKED)), {
    output: 'Error: The node did not answer in time. It is unknown whether the command ran on the node.',
    outcome: 'unknown',
  });
});

test('a shutdown is no outcome, because the call goes on after the restart', async () => {
  const shutdown = new StopReason('shutdown', 'stop');
  await using stopped = await setUp([box], () => Promise.reject(shutdown));
  await assert.rejects(execute(await stopped.prepare(ASKED), recordRun()), shutdown);
});

test('a long answer is cut to its two ends', async () => {
  await using world = await setUp([box], async () => `a${'x'.repeat(100_000)}z`);
  const { output } = await execute(await world.prepare(ASKED));
  assert.deepEqual([output.length < 66_000, output.at(0), output.at(-1)], [true, 'a', 'z']);
  assert.match(output, /\[… 34466 bytes left out …\]/);
});
