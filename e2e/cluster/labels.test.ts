import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { visit } from '../support/clients/browser.ts';
import { type DaemonUnderTest, runHeadgate } from '../support/daemon/daemon.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, startLead, startWorker, tokenOfUser, until, untilJoined } from './crew.ts';
import { nodeIdOf, untilServing } from './two-daemons.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

interface Node {
  node_id: string;
  server_url: string;
  state: string;
  labels: string[];
}

const nodesOf = async (lead: DaemonUnderTest): Promise<Node[]> => (await lead.get('/v1/api/cluster/nodes')).body.nodes;

interface Row {
  id: string;
  waiting?: Record<string, unknown>;
}

const rowsOf = async (lead: DaemonUnderTest, path: string): Promise<Row[]> => (await lead.get(path)).body.workstreams;

const findRow = async (lead: DaemonUnderTest, path: string, wsId: string) =>
  (await rowsOf(lead, path)).find(({ id }) => id === wsId);

async function create(lead: DaemonUnderTest, asked: object): Promise<{ ws_id: string; node_url: string }> {
  const { status, body } = await lead.post('/v1/api/route/workstreams/new', asked);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Sends a message, and waits for the answer. */
async function converse(lead: DaemonUnderTest, wsId: string, message: string): Promise<void> {
  const { model } = await crewScene();
  model.when(message, say(`Yes: ${message}.`));
  const sent = await lead.post('/v1/api/send', { ws_id: wsId, message });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await until(
    async () => {
      const { body } = await lead.get(`/v1/api/workstreams/${wsId}/history`);
      return body?.messages?.at(-1)?.content === `Yes: ${message}.`;
    },
    () => `${message} is answered; ${lead.output().stderr}`,
  );
}

const move = (lead: DaemonUnderTest, wsId: string, to: string) =>
  lead.post('/v1/api/route/workstreams/move', { ws_id: wsId, target_node: to });

const isAt = async (lead: DaemonUnderTest, wsId: string): Promise<unknown> =>
  (await lead.get(`/v1/api/route?ws_id=${wsId}`)).body.node_url;

test(
  'a workstream runs only on machines with its labels: placed there, it waits for the only one, and goes on with it',
  installed,
  async () => {
    await using lead = await startLead({ labels: 'eu' });
    await untilServing(lead);
    await using worker = await startWorker({ labels: 'gpu, eu' });
    await untilJoined(lead, worker);
    const gpu = await nodeIdOf(worker);
    const here = await nodeIdOf(lead);

    const alive = (await nodesOf(lead)).filter(({ state }) => state !== 'lost'); // the others are of other tests
    const labels = Object.fromEntries(alive.map((node) => [node.node_id, node.labels]));
    assert.deepEqual(labels, { [gpu]: ['eu', 'gpu'], [here]: ['eu'] });
    const status = await runHeadgate(['cluster', 'status', '--home', lead.home]);
    assert.match(status.stdout, /eu, gpu/, status.stderr);

    const before = await rowsOf(lead, '/v1/api/workstreams');
    const refused = await lead.post('/v1/api/route/workstreams/new', { machine_labels: ['tpu'], name: 'nowhere' });
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5']);
    assert.match(refused.body.error, /^No machine that runs workstreams has the label "tpu"\. There are: /);
    for (const named of [`${here} (eu)`, `${gpu} (eu, gpu)`]) assert.ok(refused.body.error.includes(named), named);
    const odd = await lead.post('/v1/api/workstreams/new', { machine_labels: 'eu,GPU' });
    assert.deepEqual(
      [odd.status, /^machine_labels\.1: must have 1 to 32/.test(odd.body.error)],
      [400, true],
      odd.body.error,
    );
    const elsewhere = await lead.post('/v1/api/route/workstreams/new', { machine_labels: ['gpu'], target_node: here });
    assert.deepEqual([elsewhere.status, elsewhere.body.error], [409, `${here} does not have the label "gpu".`]);
    assert.deepEqual(await rowsOf(lead, '/v1/api/workstreams'), before, 'nothing was created');

    const one = await create(lead, { machine_labels: 'gpu' });
    const two = await create(lead, { machine_labels: ['gpu', 'eu', 'gpu'] });
    const any = await create(lead, { machine_labels: [], target_node: gpu });
    const both = await create(lead, { machine_labels: ['eu'], target_node: gpu });
    assert.deepEqual(
      [one, two, any, both].map(({ node_url }) => node_url),
      [worker.url, worker.url, worker.url, worker.url],
    );
    const detail = await lead.get(`/v1/api/workstreams/${two.ws_id}`);
    assert.deepEqual(detail.body.machine_labels, ['eu', 'gpu']);
    await converse(lead, one.ws_id, 'before the loss');
    const fork = await (await lead.client()).call('workstream.fork', { wsId: one.ws_id });
    const copy = await (await lead.client()).call('workstream.get', { wsId: fork.wsId });
    assert.deepEqual(copy.snapshot.machineLabels, ['gpu']);

    const kept = await move(lead, two.ws_id, here);
    assert.deepEqual([kept.status, kept.body.error], [409, `${here} does not have the label "gpu"`]);
    for (const to of [here, gpu]) assert.equal((await move(lead, both.ws_id, to)).body.moved, true);

    await worker.kill9();
    await until(
      async () => (await isAt(lead, any.ws_id)) === lead.url && (await isAt(lead, both.ws_id)) === lead.url,
      () => `workstreams that this machine can have are taken over; ${lead.output().stderr}`,
    );
    const waiting = {
      reason: 'labels',
      node_id: gpu,
      missing_labels: ['gpu'],
      message: `This workstream waits for ${gpu}, because ${here} does not have the label "gpu".`,
    };
    for (const asked of [
      await lead.get(`/v1/api/workstreams/${one.ws_id}/history`),
      await lead.post('/v1/api/send', { ws_id: one.ws_id, message: 'not now' }),
    ])
      assert.deepEqual([asked.status, asked.body.error, asked.body.waiting], [503, waiting.message, waiting]);
    await assert.rejects((await lead.client()).call('workstream.get', { wsId: one.ws_id }), {
      code: 'UNAVAILABLE',
      message: waiting.message,
    });
    await assert.rejects(lead.sse(one.ws_id), /status 503/);
    for (const list of ['/v1/api/workstreams', '/v1/api/cluster/workstreams']) {
      assert.deepEqual((await findRow(lead, list, one.ws_id))?.waiting, waiting, list);
      assert.deepEqual((await findRow(lead, list, any.ws_id))?.waiting, undefined, list);
    }

    const told = await runHeadgate(['status', '--home', lead.home]);
    assert.ok(told.stdout.includes(`\n    ${waiting.message}\n`), told.stdout);
    for (const asksAll of ['agents', 'background']) {
      const { code, stderr } = await runHeadgate([asksAll, '--home', lead.home]);
      assert.equal(code, 0, stderr);
    }

    await worker.restart();
    await untilJoined(lead, worker);
    await converse(lead, one.ws_id, 'after the loss');
    assert.equal(await isAt(lead, one.ws_id), worker.url);
    await until(
      async () => {
        const rows = (await rowsOf(lead, '/v1/api/workstreams')).filter(({ id }) => id === one.ws_id);
        return rows.length === 1 && rows[0]?.waiting === undefined;
      },
      () => 'it no longer waits',
    );
    assert.equal(await isAt(lead, any.ws_id), lead.url, 'what was taken over stays');
  },
);

test(
  'a run waits with its workstream, asks the same question when its machine is back, and is hidden from others all the time',
  installed,
  async (t) => {
    const { model } = await crewScene();
    await using lead = await startLead();
    await untilServing(lead);
    await using worker = await startWorker({ labels: 'gpu' });
    await untilJoined(lead, worker);
    const { ws_id: wsId } = await create(lead, { machine_labels: ['gpu'], visibility: 'private', name: 'weigh' });
    model.when(
      'weigh it',
      callTools({ name: 'bash', arguments: { command: 'echo one >> labelled; cat labelled' } }),
      say('It is one.'),
    );
    const stream = await lead.sse(wsId);
    await lead.post('/v1/api/send', { ws_id: wsId, message: 'weigh it' });
    const { data: asked } = await stream.until('approve_request');
    const decision = { ws_id: wsId, approval_id: asked.approval_id, approved: true };
    const operator = await lead.client();
    const token = await tokenOfUser(operator, 'bob', { role: 'builtin-operator', scopes: ['read', 'write'] });
    const ofBob = async (path: string) => {
      const answer = await lead.fetch(path, { headers: { authorization: `Bearer ${token}` } });
      return { status: answer.status, text: await answer.text() };
    };

    await worker.kill9();
    await until(
      async () => (await findRow(lead, '/v1/api/workstreams', wsId))?.waiting !== undefined,
      () => `it waits; ${lead.output().stderr}`,
    );
    const early = await lead.post('/v1/api/approve', decision);
    assert.deepEqual([early.status, early.body.waiting.missing_labels], [503, ['gpu']]);
    assert.equal((await ofBob(`/v1/api/workstreams/${wsId}/history`)).status, 404);
    for (const list of ['/v1/api/workstreams', '/v1/api/cluster/workstreams', '/v1/api/cluster/snapshot']) {
      const { status, text } = await ofBob(list);
      assert.deepEqual([status, text.includes(wsId)], [200, false], text);
    }

    const { page } = await visit(t, lead, { losesDaemon: true });
    const words = `This workstream waits for ${early.body.waiting.node_id}, because `;
    await page.locator('.tab-main', { hasText: 'weigh' }).click();
    await page.locator('.empty', { hasText: words }).waitFor();
    await page.locator(`.tab-main[title^="weigh: ${words}"]`).waitFor();

    await worker.restart();
    await untilJoined(lead, worker);
    await page.locator('.user', { hasText: 'weigh it' }).waitFor();
    const decided = await lead.post('/v1/api/approve', decision);
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    await until(
      async () => {
        const { body } = await lead.get(`/v1/api/workstreams/${wsId}/history`);
        return body?.messages?.at(-1)?.content === 'It is one.';
      },
      () => `the run goes on; ${worker.output().stderr}`,
    );
    assert.equal(await isAt(lead, wsId), worker.url);
  },
);

test(
  'what waits goes on at the active machine when one with the labels becomes active; its own workstreams stay with it',
  installed,
  async () => {
    await using lead = await startLead({ labels: 'tpu' });
    await untilServing(lead);
    await using worker = await startWorker({ labels: 'gpu' });
    await untilJoined(lead, worker);
    const far = await create(lead, { machine_labels: ['gpu'] });
    const own = await create(lead, { machine_labels: ['tpu'] });
    assert.deepEqual([far.node_url, own.node_url], [worker.url, lead.url]);
    await worker.stop();
    await until(
      async () => (await findRow(lead, '/v1/api/workstreams', far.ws_id))?.waiting !== undefined,
      () => `it waits; ${lead.output().stderr}`,
    );
    const stopped = (await nodesOf(lead)).find(({ state }) => state === 'lost');
    assert.ok(stopped, 'a machine that has stopped is shown while workstreams wait for it');

    await using standby = await startLead({ labels: 'gpu' });
    await lead.stop();
    await untilServing(standby);
    await until(
      async () => (await isAt(standby, far.ws_id)) === standby.url,
      () => `it is taken over; ${standby.output().stderr}`,
    );
    await converse(standby, far.ws_id, 'on the new machine');
    await converse(standby, own.ws_id, 'without its label');
    assert.match(standby.output().stderr, /need labels that it does not have/);
  },
);
