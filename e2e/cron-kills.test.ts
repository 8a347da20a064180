import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { createArrivals } from './arrivals.ts';
import { runCronDrill } from './cron-drill/drill.ts';
import { readCronLedger } from './cron-drill/evidence.ts';
import { startDaemon } from './daemon.ts';
import { startScriptedModel } from './scripted-model.ts';
import { fail, stall } from './scripted-steps.ts';

test('Every due instant must have one row with one end, and nothing must be begun twice, over kills at any moment', async (t) => {
  const seed = randomInt(1, 1_000_000);
  t.diagnostic(`seed ${seed}`);
  const { violations, score, folder } = await runCronDrill({ kills: 20, seed, say: (line) => t.diagnostic(line) });
  assert.deepEqual(violations, [], `npm run cron-drill -- --kills 20 --seed ${seed} (${folder})`);
  // A drill in which nothing happens proves nothing.
  const { left, occurrences, turns, commands } = score;
  const happened = { due: left.due, started: left.started, ok: occurrences.ok ?? 0, turns, commands };
  const missing = Object.entries(happened).filter(([, count]) => count === 0);
  assert.deepEqual({ missing, killed: score.kills >= 20 }, { missing: [], killed: true });
});

test('a try that fails after a kill is one try: what is tried again is the second', async () => {
  await using model = await startScriptedModel();
  model.script(stall(), fail(400));
  await using daemon = await startDaemon({ model: model.url });
  const client = await daemon.client();
  const { id } = await client.call('cron.add', {
    schedule: { kind: 'at', atMs: 1 },
    sessionTarget: 'isolated',
    wakeMode: 'next-heartbeat',
    payload: { kind: 'agentTurn', message: 'go on' },
  });
  await model.request(0);
  const ended = createArrivals<{ jobId: string; action: string }>();
  client.on('cron', (event) => ended.add(event));
  await daemon.kill9();
  await daemon.restart();
  await client.call('health', {}); // it is connected again
  const { entries } = await client.call('cron.runs', { id, extended: true });
  if (!(entries[0] && 'retryAtMs' in entries[0])) await ended.until(({ action }) => action === 'finished', 'its end');
  const { occurrences, attempts } = readCronLedger(daemon.home);
  assert.deepEqual(
    occurrences.map((row) => [row.status, row.attempts]),
    [['retrying', 1]],
  );
  assert.deepEqual(
    attempts.map(({ attempt }) => attempt),
    [1],
  );
});
