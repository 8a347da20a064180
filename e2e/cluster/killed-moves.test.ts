import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { queryPostgres } from '../../src/testing/postgres-server.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';
import { say } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, newAt, startLead, startPair, startWorker, until, untilJoined } from './crew.ts';
import { nodeIdOf, untilServing } from './two-daemons.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

/** The moments of a kill after a move has begun, in milliseconds: before, in and after its steps. */
const MOMENTS = process.env.KILLED_MOVES === 'all' ? [0, 4, 9, 15, 25, 40] : [4, 15];

/** Sends until it is accepted, and waits for the answer. */
async function answered(lead: DaemonUnderTest, wsId: string, message: string): Promise<void> {
  const { model } = await crewScene();
  model.when(message, say(`Yes, ${message}.`));
  let status = 0;
  await until(
    async () => {
      ({ status } = await lead.post('/v1/api/send', { ws_id: wsId, message, idempotency_key: message }));
      return status === 200;
    },
    () => `${status} for ${message}; ${lead.output().stderr}`,
  );
  await until(
    async () =>
      JSON.stringify((await lead.get(`/v1/api/workstreams/${wsId}/history`)).body).includes(`Yes, ${message}.`),
    () => `no answer to ${message}`,
  );
}

/** The machine of a workstream, and that its log has each number once. */
async function checkRows(wsId: string): Promise<string | null> {
  const { url } = await crewScene();
  const [row] = await queryPostgres(url, `select machine from headgate.workstreams where ws_id = '${wsId}'`);
  const machine = row?.machine;
  return typeof machine === 'string' ? machine : null;
}

async function history(lead: DaemonUnderTest, wsId: string): Promise<string[]> {
  const { messages } = (await lead.get(`/v1/api/workstreams/${wsId}/history`)).body;
  return messages.map(({ content }: { content: string }) => content);
}

const bothOf = (messages: readonly string[]) => messages.flatMap((message) => [message, `Yes, ${message}.`]);

for (const victim of ['giver', 'receiver'] as const)
  test(`a workstream whose ${victim} is killed while it moves has one machine, and goes on`, installed, async () => {
    await using pair = await startPair();
    const { lead, worker, wsId } = pair;
    const client = await lead.client();
    const [here, there] = [await nodeIdOf(lead), await nodeIdOf(worker)];
    const said: string[] = [];
    for (const moment of MOMENTS) {
      if (victim === 'receiver') await client.call('cluster.move', { wsId, nodeId: here });
      const message = `${victim} ${moment}`;
      await answered(lead, wsId, message);
      said.push(message);
      const moving = client.call('cluster.move', { wsId, nodeId: victim === 'giver' ? here : there }).catch(String);
      await pause(moment);
      await worker.kill9();
      await moving;
      await answered(lead, wsId, `after ${message}`);
      said.push(`after ${message}`);
      assert.equal(await checkRows(wsId), null, 'the active daemon has it');
      await worker.restart();
      await untilJoined(lead, worker);
      if (victim === 'giver') await client.call('cluster.move', { wsId, nodeId: there });
    }
    assert.deepEqual(await history(lead, wsId), bothOf(said));
  });

test('a workstream whose active daemon is killed while it moves has one machine, and goes on', installed, async () => {
  await using first = await startLead();
  await untilServing(first);
  await using second = await startLead();
  await using worker = await startWorker();
  await untilJoined(first, worker);
  const wsId = await newAt(worker, first);
  const there = await nodeIdOf(worker);
  const said: string[] = [];
  let [lead, other] = [first, second];
  for (const [index, moment] of MOMENTS.entries()) {
    const message = `lead ${moment}`;
    await answered(lead, wsId, message);
    said.push(message);
    const client = await lead.client();
    const here = await nodeIdOf(lead);
    if (index % 2 === 1) await client.call('cluster.move', { wsId, nodeId: here });
    const moving = client.call('cluster.move', { wsId, nodeId: index % 2 === 1 ? there : here }).catch(String);
    await pause(moment);
    await lead.kill9();
    await moving;
    await untilServing(other);
    await untilJoined(other, worker);
    await lead.restart();
    [lead, other] = [other, lead];
    if ((await checkRows(wsId)) === null) {
      const again = await lead.client();
      await again.call('cluster.move', { wsId, nodeId: there });
    }
  }
  assert.deepEqual(await history(lead, wsId), bothOf(said));
});

test('the result of a watch that waits is delivered as soon as its workstream is taken over', installed, async () => {
  const { url, model } = await crewScene();
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  model.when('the build is done', say('I have seen it.'));
  await worker.kill9();
  await queryPostgres(
    url,
    `insert into headgate.watches (watch_id, ws_id, node_id, created_by, rights, name, command, interval_secs, max_polls, poll_count, missed_polls, is_polling, active, result_json, created_ms, updated_ms)
      values ('wat_1', '${wsId}', 'w', 'operator', 'approve', 'n', 'true', 60, 5, 1, 0, 0, 0, '{"text":"the build is done"}', 1, 1)`,
  );
  await until(
    async () =>
      JSON.stringify((await lead.get(`/v1/api/workstreams/${wsId}/history`)).body).includes('I have seen it.'),
    () => lead.output().stderr,
  );
});
