import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { type DaemonUnderTest, runHeadgate } from '../support/daemon/daemon.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, startPair, until, untilJoined } from './crew.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

/** The value of one series; undefined: there is none. */
async function figure(daemon: DaemonUnderTest, series: string): Promise<number | undefined> {
  const text = await (await daemon.fetch('/metrics')).text();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const untilFigure = (daemon: DaemonUnderTest, series: string, value: number | undefined) =>
  until(
    async () => (await figure(daemon, series)) === value,
    () => `${series} is ${value}`,
  );

test('each machine counts its own work, and the health is of all of them', installed, async () => {
  const { model, nats } = await crewScene();
  await using pair = await startPair();
  const { lead, worker } = pair;
  model.when('count', callTools({ name: 'list_directory', arguments: { path: '.' } }), say('done'));
  const { node_id: nodeId } = (await worker.get('/health')).body;
  await using talk = await openConversation(lead, { nodeId });
  await talk.ended(await talk.ask('count'));

  const own = ['service_messages_sent_total', 'service_tool_calls_total{tool="list_directory"}'];
  for (const series of own) assert.equal(await figure(worker, series), 1, series);
  assert.ok(((await figure(worker, 'service_tokens_total{type="prompt"}')) ?? 0) > 0);
  assert.deepEqual([await figure(lead, own[0] ?? ''), await figure(lead, own[1] ?? '')], [0, undefined]);
  assert.equal(await figure(worker, 'service_workstreams_active_total'), 2);
  const count = 'service_gateway_requests_total{method="agent",outcome="ok"}';
  assert.deepEqual([await figure(lead, count), await figure(worker, count)], [1, undefined], 'calls are counted once');

  const ofLead = (await figure(lead, 'service_workstreams_active_total')) ?? 0;
  await until(
    async () => (await lead.get('/health')).body.workstreams.total === ofLead + 2,
    () => 'the health counts the workstreams of the worker',
  );
  const roles = ['service_machine_role{role="active"}', 'service_machine_role{role="worker"}'] as const;
  assert.deepEqual([await figure(lead, roles[0]), await figure(worker, roles[1])], [1, 1]);
  await untilFigure(lead, 'service_machines{state="worker"}', 1);
  assert.deepEqual(
    await Promise.all(
      ['service_machine_versions', 'service_bus_connected', 'service_lease_held'].map((series) => figure(lead, series)),
    ),
    [1, 1, 1],
  );
  assert.ok(((await figure(lead, 'service_workstreams_waiting')) ?? -1) >= 0, 'those of other tests may wait');
  assert.deepEqual([await figure(worker, 'service_worker_joined'), await figure(worker, 'service_lease_held')], [1, 0]);

  await nats.kill();
  await untilFigure(worker, 'service_bus_connected', 0);
  await untilFigure(lead, 'service_bus_connected', 0);
  await untilFigure(worker, 'service_worker_joined', 0);
  await until(
    async () => (await worker.get('/health')).body.trouble !== null,
    () => 'the worker says why it has not joined',
  );
  const { body } = await worker.get('/health');
  assert.deepEqual([body.status, body.joined], ['worker', false]);
  assert.match(body.trouble, /not connected|does not answer/);
  await until(
    async () => {
      const { stdout } = await runHeadgate(['cluster', 'status', '--home', lead.home]);
      return stdout.includes(`${body.node_id}: `);
    },
    () => 'the list of machines says why',
  );
  await nats.start();
  await untilJoined(lead, worker);
  await untilFigure(worker, 'service_worker_joined', 1);
  assert.equal((await worker.get('/health')).body.trouble, null);
});
