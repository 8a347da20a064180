import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import type { Unit } from '../store.ts';
import { createPostgresQueue, type QueueDeps } from './postgres-queue.ts';
import type { PostgresGroup } from './postgres-writer.ts';

/** Holds each group until the test settles it. */
function heldQueue({
  refusal = () => undefined,
  mayTryAgain = async () => false,
}: Partial<Pick<QueueDeps, 'refusal' | 'mayTryAgain'>> = {}) {
  const groups: { units: readonly Unit[]; outcome: PromiseWithResolvers<PostgresGroup> }[] = [];
  const arrived: (() => void)[] = [];
  const queue = createPostgresQueue({
    write(units) {
      const outcome = Promise.withResolvers<PostgresGroup>();
      groups.push({ units, outcome });
      arrived.shift()?.();
      return outcome.promise;
    },
    clock: systemClock,
    log: recordingLog(),
    refusal,
    mayTryAgain,
    onFailure: () => undefined,
    onDamage: () => undefined,
  });
  const nextGroup = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    arrived.push(resolve);
    await promise;
    return groups.at(-1);
  };
  return { queue, nextGroup };
}

const unit = (text: string): Unit => ({ events: { wsId: 'a', events: [{ type: 'content', text }] } });

const LOST = new Error('Connection terminated unexpectedly');
const WRITTEN: PostgresGroup = { outcomes: [{ kind: 'done', offset: 1 }], appended: new Map() };

const outcomeOf = (writing: Promise<number>) =>
  writing.then(
    () => 'written',
    (error: { code: string }) => error.code,
  );

test('units that wait behind a group that cannot be written are refused with it, and later ones are written', async () => {
  const { queue, nextGroup } = heldQueue();
  const first = outcomeOf(queue.commit(unit('one ')));
  const failing = await nextGroup();
  const behind = outcomeOf(queue.commit(unit('two ')));
  failing?.outcome.reject(LOST);
  assert.deepEqual(await Promise.all([first, behind]), ['UNAVAILABLE', 'UNAVAILABLE']);
  const later = outcomeOf(queue.commit(unit('three ')));
  const written = await nextGroup();
  written?.outcome.resolve(WRITTEN);
  assert.deepEqual([await later, written?.units], ['written', [unit('three ')]]);
});

test('units that follow a refused one in the same turn are refused, even if the database is back', async () => {
  let refusal: string | undefined = 'the database is away';
  const { queue, nextGroup } = heldQueue({ refusal: () => refusal });
  const refused = outcomeOf(queue.commit(unit('one ')));
  refusal = undefined;
  await Promise.resolve();
  const behind = outcomeOf(queue.commit(unit('two ')));
  assert.deepEqual(await Promise.all([refused, behind]), ['UNAVAILABLE', 'UNAVAILABLE']);
  await new Promise(setImmediate);
  const later = outcomeOf(queue.commit(unit('three ')));
  const written = await nextGroup();
  written?.outcome.resolve(WRITTEN);
  assert.deepEqual([await later, written?.units], ['written', [unit('three ')]]);
});

test('a group whose connection was lost is written again before what waits behind it, but not for ever', async () => {
  const { queue, nextGroup } = heldQueue({ mayTryAgain: async () => true });
  const first = outcomeOf(queue.commit(unit('one ')));
  (await nextGroup())?.outcome.reject(LOST);
  const behind = outcomeOf(queue.commit(unit('two ')));
  const again = await nextGroup();
  assert.deepEqual(again?.units, [unit('one ')]);
  again?.outcome.resolve(WRITTEN);
  const next = await nextGroup();
  assert.deepEqual([await first, next?.units], ['written', [unit('two ')]]);
  next?.outcome.resolve(WRITTEN);
  assert.equal(await behind, 'written');
  const deadly = outcomeOf(queue.commit(unit('deadly ')));
  for (let attempt = 0; attempt < 4; attempt += 1) (await nextGroup())?.outcome.reject(LOST);
  assert.equal(await deadly, 'UNAVAILABLE');
});

test('units behind a group of which nobody knows when it ends can be refused without it', async () => {
  const { queue, nextGroup } = heldQueue();
  const first = outcomeOf(queue.commit(unit('one ')));
  const unknown = await nextGroup();
  const behind = outcomeOf(queue.commit(unit('two ')));
  queue.refuseWaiting(LOST);
  assert.equal(await behind, 'UNAVAILABLE');
  unknown?.outcome.resolve(WRITTEN);
  assert.equal(await first, 'written');
});
