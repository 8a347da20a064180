import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { queryPostgres } from '../../src/testing/postgres-server.ts';
import { pause } from '../support/deadline.ts';
import { closeCrew, crewScene, newAt, startLead, startWorker, until, untilJoined } from './crew.ts';
import { untilServing } from './two-daemons.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

/** Longer than until the active daemon looks at the loads again. */
const A_LOOK_MS = 12_000;

test('a worker that is started later gets its share of the workstreams that nobody uses', installed, async () => {
  const { url } = await crewScene();
  await using lead = await startLead();
  await untilServing(lead);
  const wsIds: string[] = [];
  while (wsIds.length < 9) wsIds.push(await newAt(lead, lead));
  await using worker = await startWorker();
  await untilJoined(lead, worker);
  const countAt = async () => {
    const nodes: { server_url: string; ws_total: number }[] = (await lead.get('/v1/api/cluster/nodes')).body.nodes;
    return nodes.find(({ server_url }) => server_url === worker.url)?.ws_total ?? 0;
  };
  await pause(A_LOOK_MS);
  assert.equal(await countAt(), 0, 'they were used a moment ago');
  await queryPostgres(url, 'update headgate.workstreams set updated_ms = 1000');
  await until(
    async () => (await countAt()) === 4,
    () => lead.output().stderr,
  );
  await pause(A_LOOK_MS);
  assert.equal(await countAt(), 4, 'ten and none were uneven; six and four are not');
  for (const wsId of wsIds) assert.equal((await lead.get(`/v1/api/workstreams/${wsId}/history`)).status, 200);
});
