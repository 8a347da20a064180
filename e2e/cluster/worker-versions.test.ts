import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { queryPostgres } from '../../src/testing/postgres-server.ts';
import { type DaemonUnderTest, runHeadgate } from '../support/daemon/daemon.ts';
import { installNextRelease, NEXT } from '../support/daemon/next-release.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, newAt, startLead, startWorker, until, untilJoined } from './crew.ts';
import { untilServing } from './two-daemons.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

/** Has a workstream of a worker run a command for a client of another daemon, and waits for its answer. */
async function work(at: DaemonUnderTest, wsId: string, message: string): Promise<void> {
  const { model } = await crewScene();
  model.when(message, callTools({ name: 'list_directory', arguments: { path: '.' } }), say(`done: ${message}`));
  await using stream = await at.sse(wsId);
  const { status, body } = await at.post('/v1/api/send', { ws_id: wsId, message });
  assert.equal(status, 200, JSON.stringify(body));
  await stream.until(({ data }) => data.type === 'tool_result');
  await stream.until(({ data }) => data.type === 'ws_state' && data.state === 'idle');
}

async function handOver(from: DaemonUnderTest, to: DaemonUnderTest, ...workers: DaemonUnderTest[]): Promise<void> {
  const { code, stderr } = await runHeadgate(['drain', '--home', from.home]);
  assert.equal(code, 0, stderr);
  await untilServing(to);
  await untilJoined(to, ...workers);
}

test(
  'the active daemon and workers go to the next release, whose tables differ, and back, one after the other',
  installed,
  async (t) => {
    const { url } = await crewScene();
    const entry = await installNextRelease(t);
    const schema = async () =>
      Number((await queryPostgres(url, 'select max(version) as n from headgate.schema_migrations'))[0]?.n);
    await using old = await startLead();
    await untilServing(old);
    await using oldWorker = await startWorker();
    await untilJoined(old, oldWorker);
    const wsId = await newAt(oldWorker, old);
    await work(old, wsId, 'before');

    // A worker of the next release waits for its tables, and says so.
    await using nextWorker = await startWorker({ entry });
    await until(
      async () => String((await nextWorker.get('/health')).body.trouble).includes('tables of an older Headgate'),
      () => `the worker waits; ${JSON.stringify(nextWorker.output())}`,
    );
    assert.match(nextWorker.output().stderr, /this worker waits/);
    const status = async () => (await runHeadgate(['cluster', 'status', '--home', old.home])).stdout;
    const told = /^\S+: The database has the tables of an older Headgate\. This worker joins when/m;
    await until(
      async () => told.test(await status()),
      () => 'the list of machines says why',
    );
    assert.equal(await schema(), NEXT.schema - 1);

    // The next release is active: the worker of this one goes on over the newer tables, and that of the next one joins.
    await using next = await startLead({ entry });
    await handOver(old, next, oldWorker, nextWorker);
    assert.equal(await schema(), NEXT.schema);
    await work(next, wsId, 'an older worker');
    const newer = await newAt(nextWorker, next);
    await work(old, newer, 'a worker of the same release');

    // This release is active again, with a worker of each.
    await handOver(next, old, oldWorker, nextWorker);
    await work(old, wsId, 'a worker of this release');
    await work(next, newer, 'a newer worker');
    const { body } = await old.get('/v1/api/cluster/overview');
    assert.deepEqual([body.version_drift, body.versions.length], [true, 2]);

    // A worker of the next release is lost; this one goes on with what it had, and the other way round.
    await nextWorker.kill9();
    await until(
      async () => (await old.get(`/v1/api/route?ws_id=${newer}`)).body.node_url === old.url,
      () => 'the workstream of the newer worker goes on here',
    );
    await work(old, newer, 'taken over from a newer worker');
    const client = await old.client();
    assert.equal((await client.call('audit.verify', {})).ok, true);
  },
);
