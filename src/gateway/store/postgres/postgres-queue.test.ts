import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import type { Unit } from '../store.ts';
import { createPostgresQueue } from './postgres-queue.ts';
import type { PostgresGroup } from './postgres-writer.ts';

/** Holds each group until the test settles it. */
function heldQueue(refusal: () => string | undefined = () => undefined) {
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
  failing?.outcome.reject(new Error('Connection terminated unexpectedly'));
  assert.deepEqual(await Promise.all([first, behind]), ['UNAVAILABLE', 'UNAVAILABLE']);
  const later = outcomeOf(queue.commit(unit('three ')));
  const written = await nextGroup();
  written?.outcome.resolve({ outcomes: [{ kind: 'done', offset: 1 }], appended: new Map() });
  assert.deepEqual([await later, written?.units], ['written', [unit('three ')]]);
});

test('units that follow a refused one in the same turn are refused, even if the database is back', async () => {
  let refusal: string | undefined = 'the database is away';
  const { queue, nextGroup } = heldQueue(() => refusal);
  const refused = outcomeOf(queue.commit(unit('one ')));
  refusal = undefined;
  await Promise.resolve();
  const behind = outcomeOf(queue.commit(unit('two ')));
  assert.deepEqual(await Promise.all([refused, behind]), ['UNAVAILABLE', 'UNAVAILABLE']);
  await new Promise(setImmediate);
  const later = outcomeOf(queue.commit(unit('three ')));
  const written = await nextGroup();
  written?.outcome.resolve({ outcomes: [{ kind: 'done', offset: 1 }], appended: new Map() });
  assert.deepEqual([await later, written?.units], ['written', [unit('three ')]]);
});
