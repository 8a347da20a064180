import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { queryPostgres } from '../../src/testing/postgres-server.ts';
import type { SseReader } from '../support/clients/sse.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { allowedMs, within } from '../support/deadline.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, folderNamed, startLead, startPair, until, untilJoined } from './crew.ts';
import { untilServing } from './two-daemons.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });

/** Sends a message, and resolves when the model is asked for the answer, which waits. */
async function begin(lead: DaemonUnderTest, wsId: string, message: string): Promise<{ release(): void }> {
  const { model } = await crewScene();
  const rest = stall();
  model.when(message, [say('It begins.'), rest, say(' It goes on.')]);
  const sent = await lead.post('/v1/api/send', { ws_id: wsId, message });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await within(rest.reached, allowedMs(30_000), () => `the model is asked for ${message}`);
  return rest;
}

const untilEnded = (stream: SseReader) =>
  stream.until(({ data }) => data.type === 'ws_state' && data.run?.status === 'ok', { timeoutMs: allowedMs(60_000) });

/** What a stream said of an answer, with each event of the log once. */
function answerIn({ frames }: SseReader): string {
  const offsets = frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id.split(':')[1])]));
  assert.deepEqual(
    offsets,
    offsets.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(offsets).size, offsets.length);
  return frames.flatMap(({ data }) => (data.type === 'content' ? [data.text] : [])).join('');
}

test(
  'the workstreams of a killed worker go on at the active daemon, in the streams that follow them',
  installed,
  async () => {
    const { model } = await crewScene();
    await using pair = await startPair();
    const { lead, worker, wsId } = pair;
    await using stream = await lead.sse(wsId);
    model.when('count it', bash('echo one >> killed; cat killed'), say('It is one.'));
    await lead.post('/v1/api/send', { ws_id: wsId, message: 'count it' });
    const { data: asked } = await stream.until('approve_request');
    const killedMs = performance.now();
    await worker.kill9();
    await until(
      async () =>
        (await lead.get('/v1/api/workstreams')).body.workstreams.some((row: { ws_id: string }) => row.ws_id === wsId),
      () => `the active daemon has the workstream; ${lead.output().stderr}`,
    );
    const tookMs = performance.now() - killedMs;
    assert.ok(tookMs < allowedMs(10_000), `it took ${tookMs} ms`);
    const decided = await lead.post('/v1/api/approve', { ws_id: wsId, approval_id: asked.approval_id, approved: true });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    await untilEnded(stream);
    assert.equal(answerIn(stream), 'It is one.');
    assert.equal(await readFile(path.join(await folderNamed('shared'), 'killed'), 'utf8'), 'one\n');
  },
);

test('a background command of a killed worker has ended when its workstream is taken over', installed, async () => {
  const { model } = await crewScene();
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  await using stream = await lead.sse(wsId);
  const background = { name: 'bash', arguments: { command: 'echo begun; sleep 600', run_in_background: true } };
  model.when('start it', callTools(background), say('It runs.'));
  await lead.post('/v1/api/send', { ws_id: wsId, message: 'start it' });
  await untilEnded(stream);
  await worker.kill9();
  const { data: ended } = await stream.until(
    ({ data }) => data.type === 'background_command' && data.state === 'ended',
    { timeoutMs: allowedMs(60_000) },
  );
  assert.equal(ended.end, 'lost');
});

test('a worker goes on while another daemon becomes active, and joins it', installed, async () => {
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  const rest = await begin(lead, wsId, 'go on without');
  await using standby = await startLead();
  await lead.kill9();
  await untilServing(standby);
  rest.release();
  await untilJoined(standby, worker);
  await using stream = await standby.sse(wsId);
  await stream.until(({ data }) => JSON.stringify(data).includes('It begins. It goes on.'), {
    timeoutMs: allowedMs(60_000),
  });
  const place = await standby.get(`/v1/api/route?ws_id=${wsId}`);
  assert.equal(place.body.node_url, worker.url);
});

test('a worker whose sessions with the database were ended joins the next active daemon', installed, async () => {
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  await using standby = await startLead();
  const { url } = await crewScene();
  const others = 'from pg_stat_activity where client_port > 0 and pid <> pg_backend_pid()';
  await queryPostgres(url, `select pg_terminate_backend(pid) ${others}`);
  await lead.kill9();
  await untilServing(standby);
  await untilJoined(standby, worker);
  assert.equal((await standby.get(`/v1/api/workstreams/${wsId}/history`)).status, 200);
});

test(
  'while the bus is away, calls are refused and runs go on; then the streams get what they missed',
  installed,
  async () => {
    await using pair = await startPair();
    const { lead, worker, wsId } = pair;
    await using stream = await lead.sse(wsId);
    const rest = await begin(lead, wsId, 'without a bus');
    const { nats } = await crewScene();
    await nats.kill();
    await until(
      async () => (await lead.get(`/v1/api/workstreams/${wsId}/history`)).status === 503,
      () => 'calls are refused',
    );
    const refused = await lead.post('/v1/api/send', { ws_id: wsId, message: 'not now' });
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
    rest.release();
    await nats.start();
    await untilJoined(lead, worker);
    await untilEnded(stream);
    assert.equal(answerIn(stream), 'It begins. It goes on.');
  },
);

test('a worker that was stopped for longer than its lease writes nothing more, and ends', installed, async () => {
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  await using stream = await lead.sse(wsId);
  const rest = await begin(lead, wsId, 'be paused');
  worker.signal('SIGSTOP');
  await until(
    async () => (await lead.get(`/v1/api/route?ws_id=${wsId}`)).body.node_url === lead.url,
    () => `the active daemon takes over; ${lead.output().stderr}`,
  );
  rest.release();
  worker.signal('SIGCONT');
  const { code } = await within(worker.exited(), allowedMs(60_000), () => `the worker ends; ${worker.output().stderr}`);
  assert.equal(code, 1, worker.output().stderr);
  await untilEnded(stream);
  assert.match(answerIn(stream), /^(It begins\.)?It begins\. It goes on\.$/);
});

test('an orderly stop of a worker hands its workstreams over at once', installed, async () => {
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  await using stream = await lead.sse(wsId);
  const rest = await begin(lead, wsId, 'hand it over');
  rest.release();
  await untilEnded(stream);
  const { code } = await worker.stop();
  assert.equal(code, 0, worker.output().stderr);
  await until(
    async () => (await lead.get(`/v1/api/workstreams/${wsId}/history`)).status === 200,
    () => `the active daemon has it; ${lead.output().stderr}`,
  );
  assert.equal(answerIn(stream), 'It begins. It goes on.');
});

test('a workstream whose folder only its worker has waits for it, and goes on with it', installed, async () => {
  const { model } = await crewScene();
  await using pair = await startPair({ isAlone: true });
  const { lead, worker, wsId } = pair;
  model.when('be there', say('It is here.'));
  await worker.stop();
  await until(
    async () => (await lead.get(`/v1/api/workstreams/${wsId}/history`)).body.waiting?.reason === 'folder',
    () => 'it waits for its machine',
  );
  await worker.restart();
  await untilJoined(lead, worker);
  assert.equal((await lead.get(`/v1/api/route?ws_id=${wsId}`)).body.node_url, worker.url);
  await using stream = await lead.sse(wsId);
  await lead.post('/v1/api/send', { ws_id: wsId, message: 'be there' });
  await untilEnded(stream);
  assert.equal(answerIn(stream), 'It is here.');
});
