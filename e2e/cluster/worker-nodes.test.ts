import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { findProcess } from '../../src/agent/process/process-table.ts';
import { needs } from '../../src/testing/needs.ts';
import type { SseReader } from '../support/clients/sse.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { startNode } from '../support/daemon/node-process.ts';
import { allowedMs, within } from '../support/deadline.ts';
import { fileAppears } from '../support/file-appears.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, startLead, startPair, until, untilJoined } from './crew.ts';
import { nodeIdOf, untilServing } from './two-daemons.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

/** A node that is connected to `gateway`, which may forward to the active daemon, and lends a shell. */
async function pairedAt(gateway: DaemonUnderTest, lead: DaemonUnderTest) {
  const node = await startNode(gateway, ['--allow', 'sh *']);
  await node.code();
  const client = await lead.client();
  const { pending } = await client.call('node.pair.list', {});
  for (const { requestId } of pending) await client.call('node.pair.approve', { requestId });
  await node.child.printed(/^Connected\.$/m);
  return node;
}

interface Command {
  nodeId: string;
  script: string;
  timeoutSecs?: number;
}

const invoke = ({ nodeId, script, timeoutSecs = 60 }: Command) =>
  callTools({
    name: 'node',
    arguments: {
      ...{ action: 'invoke', node: nodeId, command: 'system.run', params: { argv: ['sh', '-c', script] } },
      timeout_secs: timeoutSecs,
    },
  });

async function approve(lead: DaemonUnderTest, stream: SseReader) {
  const { data: asked } = await stream.until('approve_request');
  await (await lead.client()).call('approval.resolve', { approvalId: asked.approval_id, approved: true });
  return asked;
}

/** What calls of tools returned, by the history. */
async function resultsIn(lead: DaemonUnderTest, wsId: string): Promise<string[]> {
  const { body } = await lead.get(`/v1/api/workstreams/${wsId}/history`);
  return body.messages.flatMap(({ role, content }: { role: string; content: string }) =>
    role === 'tool' ? [content] : [],
  );
}

const RAN_ONCE = 'ran\n';
const runsOf = ({ folder }: { folder: string }) => readFile(path.join(folder, 'runs'), 'utf8');

test('a run of a worker lists the nodes, and runs a command on one after an approval', installed, async () => {
  const { model } = await crewScene();
  await using pair = await startPair();
  const { lead, wsId } = pair;
  await using node = await pairedAt(lead, lead);
  await using stream = await lead.sse(wsId);
  const command = { nodeId: node.nodeId(), script: 'echo ran >> runs; cat runs' };
  model.when(
    'use the box',
    callTools({ name: 'node', arguments: { action: 'list' } }),
    [invoke(command)],
    say('It ran.'),
  );
  await lead.post('/v1/api/send', { ws_id: wsId, message: 'use the box' });
  const { items } = await approve(lead, stream);
  assert.deepEqual(
    items.map(({ header, approval_label }: Record<string, string>) => [header, approval_label]),
    [['node: system.run on box', 'node system.run']],
  );
  await stream.until(({ data }) => data.type === 'ws_state' && data.run?.status === 'ok');
  const [list = '', ran = ''] = await resultsIn(lead, wsId);
  assert.match(list, new RegExp(`^box \\(${node.nodeId()}, .*, connected\\): file\\.read, .*system\\.run$`, 'm'));
  assert.equal(JSON.parse(ran).stdout, RAN_ONCE);
  assert.equal(await runsOf(node), RAN_ONCE);
});

test('a job of a worker runs commands on a node without asking, if it is allowed to', installed, async () => {
  const { model } = await crewScene();
  await using pair = await startPair();
  const { lead, worker } = pair;
  await using node = await pairedAt(lead, lead);
  const command = { nodeId: node.nodeId(), script: 'echo ran >> runs; cat runs' };
  model.when('ask the box', [invoke(command)], say('It ran.'));
  const client = await lead.client();
  const { id } = await client.call('cron.add', {
    name: 'box',
    schedule: { kind: 'every', everyMs: 3_600_000 },
    sessionTarget: 'isolated',
    wakeMode: 'next-heartbeat',
    payload: { kind: 'agentTurn', message: 'ask the box' },
    approval: { mode: 'allow', tools: ['node'] },
    nodeId: await nodeIdOf(worker),
  });
  await client.call('cron.run', { id, mode: 'force' });
  assert.equal(await runsOf(node), RAN_ONCE);
  await client.call('cron.remove', { id });
});

test('cancelling a run of a worker ends its program on a node', installed, async () => {
  const { model } = await crewScene();
  await using pair = await startPair();
  const { lead, wsId } = pair;
  await using node = await pairedAt(lead, lead);
  await using stream = await lead.sse(wsId);
  const script = 'sleep 600 & echo $! > pid; wait';
  model.when('for long', invoke({ nodeId: node.nodeId(), script, timeoutSecs: 600 }), say('Not reached.'));
  await lead.post('/v1/api/send', { ws_id: wsId, message: 'for long' });
  await approve(lead, stream);
  await fileAppears(path.join(node.folder, 'pid'));
  const pid = Number(await readFile(path.join(node.folder, 'pid'), 'utf8'));
  await lead.post('/v1/api/cancel', { ws_id: wsId });
  await until(
    () => findProcess(pid) === undefined,
    () => 'the program ends',
  );
  const { data: result } = await stream.until('tool_result');
  assert.equal(result.outcome, 'unknown');
});

/** A script that ran once, and ends when `go` is there. */
const UNTIL_GO = 'echo ran >> runs; while [ ! -e go ]; do sleep 0.05; done; echo done';

interface Waiting {
  lead: DaemonUnderTest;
  wsId: string;
  node: { nodeId(): string; folder: string };
}

/** A run of a worker asks for this command, which is approved and has begun. */
async function begin(message: string, { lead, wsId, node }: Waiting): Promise<void> {
  const { model } = await crewScene();
  model.when(message, invoke({ nodeId: node.nodeId(), script: UNTIL_GO, timeoutSecs: 120 }), say('It is done.'));
  await using stream = await lead.sse(wsId);
  await lead.post('/v1/api/send', { ws_id: wsId, message });
  await approve(lead, stream);
  await fileAppears(path.join(node.folder, 'runs'));
}

/** The command may end now. Its result comes, and it ran once. */
async function finish({ lead, wsId, node }: Waiting): Promise<void> {
  await writeFile(path.join(node.folder, 'go'), '');
  await until(
    async () => (await resultsIn(lead, wsId)).length > 0,
    () => `the result comes; ${lead.output().stderr}`,
  );
  const [result = ''] = await resultsIn(lead, wsId);
  assert.equal(JSON.parse(result).stdout, 'done\n', result);
  assert.equal(await runsOf(node), RAN_ONCE);
}

test('a command goes on while another daemon becomes active, which returns its result', installed, async () => {
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  await using node = await pairedAt(worker, lead);
  await begin('take over', { lead, wsId, node });
  await using standby = await startLead();
  await lead.kill9();
  await untilServing(standby);
  await untilJoined(standby, worker);
  await finish({ lead: standby, wsId, node });
});

test('a command goes on while the bus is away', installed, async () => {
  const { nats } = await crewScene();
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  await using node = await pairedAt(lead, lead);
  await begin('without a bus', { lead, wsId, node });
  await nats.kill();
  await until(
    async () => (await lead.get(`/v1/api/workstreams/${wsId}/history`)).status === 503,
    () => 'the link is lost',
  );
  await nats.start();
  await untilJoined(lead, worker);
  await finish({ lead, wsId, node });
});

test(
  'a command goes on when its worker is killed, and the run that is taken over gets its result',
  installed,
  async () => {
    await using pair = await startPair();
    const { lead, worker, wsId } = pair;
    await using node = await pairedAt(lead, lead);
    await begin('lose the worker', { lead, wsId, node });
    await worker.kill9();
    await until(
      async () => (await lead.get(`/v1/api/route?ws_id=${wsId}`)).body.node_url === lead.url,
      () => `the active daemon takes over; ${lead.output().stderr}`,
    );
    await finish({ lead, wsId, node });
  },
);

test('a worker that was killed during a command and starts again gets the result', installed, async () => {
  await using pair = await startPair({ isAlone: true });
  const { lead, worker, wsId } = pair;
  await using node = await pairedAt(lead, lead);
  await begin('restart the worker', { lead, wsId, node });
  await worker.kill9();
  await worker.restart();
  await untilJoined(lead, worker);
  await finish({ lead, wsId, node });
});

test(
  'a command has an unknown outcome if no daemon is active any more, and the next command runs once one is',
  installed,
  async () => {
    const { model } = await crewScene();
    await using pair = await startPair();
    const { lead, worker, wsId } = pair;
    await using node = await pairedAt(lead, lead);
    const nodeId = node.nodeId();
    await using stream = await lead.sse(wsId);
    const rest = stall();
    const script = 'echo ran >> runs; sleep 2';
    model.when('be alone', invoke({ nodeId, script, timeoutSecs: 5 }), [rest, say('Unknown.')]);
    await lead.post('/v1/api/send', { ws_id: wsId, message: 'be alone' });
    await approve(lead, stream);
    await fileAppears(path.join(node.folder, 'runs'));
    await lead.kill9();
    await within(rest.reached, allowedMs(60_000), () => `the run goes on; ${worker.output().stderr}`);
    rest.release();
    await lead.restart();
    await untilServing(lead);
    await untilJoined(lead, worker);
    const [unknown] = await resultsIn(lead, wsId);
    assert.equal(
      unknown,
      'Error: The active daemon was lost during the command. It is unknown whether the command ran on the node.',
    );
    assert.equal(await runsOf(node), RAN_ONCE);
    const client = await lead.client();
    await until(
      async () => (await client.call('node.describe', { nodeId })).connected,
      () => 'the node comes back',
    );
    await using again = await lead.sse(wsId);
    model.when('once more', invoke({ nodeId, script: 'echo here' }), say('It ran.'));
    await lead.post('/v1/api/send', { ws_id: wsId, message: 'once more' });
    await approve(lead, again);
    await until(
      async () => (await resultsIn(lead, wsId)).length > 1,
      () => `the next command runs; ${worker.output().stderr}`,
    );
    const [, next = ''] = await resultsIn(lead, wsId);
    assert.equal(JSON.parse(next).stdout, 'here\n');
  },
);
