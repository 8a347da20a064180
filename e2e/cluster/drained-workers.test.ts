import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { type DaemonUnderTest, runHeadgate } from '../support/daemon/daemon.ts';
import { allowedMs, pause, within } from '../support/deadline.ts';
import { say, stall } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, newAt, startPair, until, untilJoined } from './crew.ts';
import { nodeIdOf } from './two-daemons.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

const placeOf = async (lead: DaemonUnderTest, wsId: string): Promise<string> =>
  (await lead.get(`/v1/api/route?ws_id=${wsId}`)).body.node_url;

/** Asks for workstreams again and again. Returns the longest time, for each of them, in which no request was answered. */
function gapsOf(lead: DaemonUnderTest, wsIds: readonly string[]) {
  let isOver = false;
  const watch = async (wsId: string): Promise<number> => {
    let [answeredMs, longest] = [performance.now(), 0];
    while (!isOver) {
      const { status } = await lead.get(`/v1/api/workstreams/${wsId}/history`);
      const nowMs = performance.now();
      if (status === 200) {
        longest = Math.max(longest, nowMs - answeredMs);
        answeredMs = nowMs;
      }
      await pause(50);
    }
    return Math.max(longest, performance.now() - answeredMs);
  };
  const watching = wsIds.map(watch);
  return async (): Promise<number[]> => {
    isOver = true;
    return (await Promise.all(watching)).toSorted((a, b) => a - b);
  };
}

test('a worker that is drained gives what it has, which is away for a moment only', installed, async (t) => {
  const { model } = await crewScene();
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  const wsIds = [wsId];
  while (wsIds.length < 12) wsIds.push(await newAt(worker, lead));
  const running = await newAt(worker, lead);
  const rest = stall();
  model.when('take it along', [say('It begins.'), rest, say(' It goes on.')], say('It begins again.'));
  await using stream = await lead.sse(running);
  await lead.post('/v1/api/send', { ws_id: running, message: 'take it along' });
  await within(rest.reached, allowedMs(30_000), () => 'the model is asked');
  const usual = gapsOf(lead, wsIds);
  await pause(2_000);
  const usually = Math.round((await usual()).at(-1) ?? 0);
  const gaps = gapsOf(lead, wsIds);
  const gapOfRunning = gapsOf(lead, [running]);
  await pause(500);
  const drained = await runHeadgate(['drain', '--home', worker.home]);
  assert.match(drained.stdout, /^The worker has ended\./, drained.stderr);
  assert.equal((await worker.exited()).code, 0);
  await until(
    async () => (await lead.get(`/v1/api/workstreams/${running}/history`)).status === 200,
    () => lead.output().stderr,
  );
  const measured = await gaps();
  const [ofRunning = 0] = await gapOfRunning();
  const at = (part: number) => Math.round(measured[Math.ceil(part * measured.length) - 1] ?? 0);
  t.diagnostic(
    `usually ${usually} ms; away: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; with a run ${Math.round(ofRunning)} ms`,
  );
  assert.ok(at(0.99) <= allowedMs(1_000), `${measured}`);
  assert.ok(ofRunning <= allowedMs(3_000), `${ofRunning}`);
  for (const one of [...wsIds, running]) assert.equal(await placeOf(lead, one), lead.url);
  rest.release();
  await stream.until(({ data }) => data.type === 'ws_state' && data.run?.status === 'ok', {
    timeoutMs: allowedMs(60_000),
  });
  const listed = (await lead.get('/v1/api/workstreams')).body.workstreams.map((row: { ws_id: string }) => row.ws_id);
  assert.deepEqual(
    wsIds.filter((one) => !listed.includes(one)),
    [],
    'they are loaded',
  );
});

test('the command line moves a workstream, and says why not', installed, async () => {
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  const [here, there] = [await nodeIdOf(lead), await nodeIdOf(worker)];
  const move = (of: string, node: string) => runHeadgate(['cluster', 'move', of, node, '--home', lead.home]);
  assert.equal((await move(wsId, here)).stdout, `Moved to ${here}.\n`);
  assert.equal(await placeOf(lead, wsId), lead.url);
  assert.equal((await move(wsId, here)).stdout, `${here} has it already.\n`);
  const refused = await move('main', there);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /The main session and the workstreams of jobs and chats do not move/);
  assert.match((await move(wsId, 'nobody')).stderr, /nobody is not a worker that has joined/);
});

test('what went to the active daemon goes back when its worker is there again', installed, async () => {
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  await worker.stop();
  assert.equal(await placeOf(lead, wsId), lead.url);
  await worker.restart();
  await untilJoined(lead, worker);
  await within(
    until(
      async () => (await placeOf(lead, wsId)) === worker.url,
      () => lead.output().stderr,
    ),
    allowedMs(120_000),
    () => 'it is back',
  );
});
