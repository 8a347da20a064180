import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { CheckpointFiles } from '../../agent/checkpoints/checkpoint-files.ts';
import { inThisThread } from '../../agent/checkpoints/checkpoint-files.ts';
import { createCheckpointWorker } from '../../agent/checkpoints/checkpoint-work.ts';
import { systemClock } from '../../clock.ts';
import { tempDir } from '../../testing/temp-store.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { callerOf, turnsUntil } from '../testing/whole-gateway.ts';
import { checkpointsFixture as open } from './checkpoints-fixture.ts';

/** Snapshots of which the next one is held after its contents were stored, until `release` is called. */
function heldSnapshots(t: TestContext) {
  const dir = tempDir();
  t.after(() => dir[Symbol.dispose]());
  const files = inThisThread(createCheckpointWorker({ folder: dir.path, home: dir.path, now: systemClock.now }));
  let removals = 0;
  let held: { reached(): void; released: Promise<void> } | undefined;
  const checkpointFiles: CheckpointFiles = {
    ...files,
    async do(kind, request) {
      const reply = await files.do(kind, request);
      if (kind === 'keepOnly') removals += 1;
      if (kind !== 'snapshot') return reply;
      const { reached, released } = held ?? {};
      held = undefined;
      reached?.();
      await released;
      return reply;
    },
  };
  return {
    checkpointFiles,
    hasRemoved: () => removals > 0,
    holdNext() {
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { reached: reached.resolve, released: released.promise };
      return { reached: reached.promise, release: released.resolve };
    },
  };
}

test('a run that only reads takes no snapshot, and one that changes nothing keeps none', async (t) => {
  const it = await open(t);
  await it.run('x', 'look');
  assert.equal(existsSync(join(it.gateway.dir, 'checkpoints', it.wsId)), false);
  writeFileSync(it.at('a.txt'), 'same');
  await it.run('same');
  assert.deepEqual(await it.list(), []);
});

test('an undo that dies at any of its writes is made completely or not at all, and repeating its key does it once', async (t) => {
  const outcomes = new Set<string>();
  for (let death = 1; death < 20; death += 1) {
    const it = await open(t);
    await it.run('one');
    await it.run('two');
    let writes = 0;
    it.gateway.disk.diesAt = () => {
      writes += 1;
      return writes >= death;
    };
    const params = { wsId: it.wsId, idempotencyKey: 'undo' };
    let isDone = false;
    const undo = Promise.resolve(it.gateway.gateway.dispatch('checkpoint.undo', params, callerOf()));
    void undo.then(() => {
      isDone = true;
    });
    await turnsUntil(() => isDone || writes >= death, 'the end or the death');
    await it.gateway.crash();
    outcomes.add(`${isDone} ${it.read()}`);
    const [{ state } = {}] = await it.list();
    assert.equal(it.read(), state === 'undone' ? 'one' : 'two', `write ${death}`);
    const { changed } = await it.gateway.call('checkpoint.undo', params);
    assert.deepEqual([changed, it.read()], [['a.txt'], 'one'], `write ${death}`);
    const told = (await it.gateway.events(it.wsId)).filter((event) => event.type === 'info');
    assert.equal(told.length, 1, `write ${death}`);
    if (isDone) break;
  }
  assert.deepEqual(outcomes, new Set(['false two', 'false one', 'true one']));
});

test('a new run that changes files ends what can be brought back, and one that changes none does not', async (t) => {
  const it = await open(t);
  const { call } = it.gateway;
  await it.run('one');
  await call('checkpoint.undo', { wsId: it.wsId });
  await it.run('x', 'look');
  assert.deepEqual(
    (await it.list()).map(({ state }) => state),
    ['undone'],
  );
  await it.run('other');
  assert.deepEqual(
    (await it.list()).map(({ state }) => state),
    ['done'],
  );
  const refused = await it.gateway.refusal('checkpoint.redo', { wsId: it.wsId });
  assert.deepEqual(refused, { code: 'NOT_FOUND', message: 'There is nothing to bring back.' });
});

test('only so many runs can be taken back, and only for so long', async (t) => {
  const it = await open(t, { keep: 2, keepDays: 1 });
  for (const text of ['one', 'two', 'three']) await it.run(text);
  assert.equal((await it.list()).length, 2);
  it.gateway.clock.jump(2 * 86_400_000);
  await it.gateway.call('workstream.update', { wsId: it.wsId, autoApprove: true }); // it has ended meanwhile
  await it.run('four');
  assert.equal((await it.list()).length, 1);
});

test('when the space is full, no more runs are forgotten than needed', async (t) => {
  const it = await open(t, { maxTotalMb: 1 });
  writeFileSync(it.at('base'), randomBytes(600_000));
  const kept: number[] = [];
  for (let n = 0; n < 14; n += 1) {
    await it.run(randomBytes(30_000).toString('hex'));
    kept.push((await it.list()).length);
  }
  assert.deepEqual(kept, [1, 2, 3, 4, 5, 6, 5, 5, 5, 5, 5, 5, 5, 5]);
});

test('the daily clean-up leaves a snapshot that is being stored', async (t) => {
  const { checkpointFiles, holdNext, hasRemoved } = heldSnapshots(t);
  const it = await open(t, { keepDays: 1 }, { checkpointFiles });
  await it.run('one');
  it.gateway.clock.jump(2 * 86_400_000);
  await it.gateway.call('workstream.update', { wsId: it.wsId, autoApprove: true }); // it has ended meanwhile
  const held = holdNext();
  const running = it.run('two');
  await held.reached;
  const stop = new AbortController();
  const ended = it.gateway.gateway.run(stop.signal);
  await it.gateway.clock.advance(16 * 60_000); // the first clean-up comes after a quarter of an hour
  // A clean-up that does not wait comes to its end within some turns; one that waits does so after the release.
  for (let turn = 0; turn < 500 && !hasRemoved(); turn += 1) await new Promise(setImmediate);
  held.release();
  await running;
  stop.abort();
  await ended;
  await it.gateway.call('checkpoint.undo', { wsId: it.wsId });
  assert.equal(it.read(), 'one');
});

test('without snapshots, an undo says which setting is the reason', async (t) => {
  const it = await open(t, { enabled: false });
  await it.run('one');
  const { message } = await it.gateway.refusal('checkpoint.undo', { wsId: it.wsId });
  assert.equal(message, 'There is nothing to take back: checkpoints.enabled is false in the configuration.');
  assert.equal((await it.gateway.call('checkpoint.list', { wsId: it.wsId })).enabled, false);
});

test('a run goes on without a snapshot, and people are told once why nothing can be taken back', async (t) => {
  const it = await open(t);
  const folder = join(it.gateway.dir, 'checkpoints');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'a file in its place');
  await it.run('one');
  await it.run('two');
  const told = (await it.gateway.events(it.wsId)).flatMap((event) => (event.type === 'info' ? event.message : []));
  assert.equal(it.read(), 'two');
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /^\/undo cannot take back what this run does: no snapshot could be taken \(/);
});

test('a file that could not be changed after all is named by the answer, also when its key is repeated', async (t) => {
  const it = await open(t);
  await it.run('one');
  await it.run('two');
  it.gateway.disk.diesAt = () => {
    writeFileSync(it.at('a.txt'), 'meanwhile'); // once the undo is decided
    return false;
  };
  const params = { wsId: it.wsId, idempotencyKey: 'undo' };
  const first = await it.gateway.call('checkpoint.undo', params);
  const { changed, failed } = first;
  assert.deepEqual({ changed, failed }, { changed: [], failed: [{ path: 'a.txt', why: 'it was changed meanwhile' }] });
  assert.deepEqual(await it.gateway.call('checkpoint.undo', params), first);
  assert.equal(it.read(), 'meanwhile');
});

test('the changes of a closed conversation can be read without opening it', async (t) => {
  const it = await open(t);
  const { call, refusal } = it.gateway;
  await it.run('one');
  await call('workstream.create', {});
  await call('workstream.close', { wsId: it.wsId });
  assert.deepEqual(
    (await it.list()).map(({ state }) => state),
    ['done'],
  );
  const { files } = await call('checkpoint.diff', { wsId: it.wsId });
  assert.deepEqual(
    files.map(({ path }) => path),
    ['a.txt'],
  );
  assert.equal((await refusal('checkpoint.undo', { wsId: it.wsId })).code, 'NOT_FOUND');
  assert.equal((await refusal('checkpoint.list', { wsId: '0'.repeat(32) })).code, 'NOT_FOUND');
});

test('the changes of a run in progress are refused as something that can be asked again', async (t) => {
  const it = await open(t);
  it.gateway.puppet.turn(calling('touch', { text: 'one' }));
  it.gateway.puppet.turn(never());
  await it.gateway.accept('write one');
  await turnsUntil(() => it.gateway.puppet.requests.length === 2, 'the second turn');
  const [run = assert.fail()] = await it.gateway.store.db.selectFrom('runs').select('run_id').execute();
  await assert.rejects(it.gateway.call('checkpoint.diff', { wsId: it.wsId, runId: run.run_id }), {
    code: 'CONFLICT',
    retryable: true,
  });
});
