import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { recordingLog, tempDir, tempStore } from '../../testing/temp-store.ts';

/** Of new files. */
const PAGE_BYTES = 1_024;
const info = (message: string): StreamEvent => ({ type: 'info', message });
const addTo = (wsId: string) => ({ events: { wsId, events: [info('more')] } });
const DAMAGED = {
  name: 'GatewayError',
  code: 'INTERNAL',
  message: 'The part of the database that holds this is damaged',
};

/** Three logs of several pages, closed; then the last page, with the end of log `c`, is overwritten. */
async function storeWithDamage(folder: string) {
  const path = join(folder, 'headgate.db');
  const whole = await tempStore({ path });
  for (const wsId of ['a', 'b', 'c']) {
    for (let n = 1; n <= 20; n += 1) {
      await whole.commit({ events: { wsId, events: [info(`${wsId}${n} ${'-'.repeat(800)}`)] } });
    }
  }
  await whole.close();
  vacuum(path); // pages contain remains of rows that have moved
  const at = Math.floor(readFileSync(path).indexOf('c20 ') / PAGE_BYTES) * PAGE_BYTES;
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(PAGE_BYTES, 0xff), 0, PAGE_BYTES, at);
  closeSync(file);
  const log = recordingLog();
  return { log, store: await tempStore({ path, log }) };
}

function vacuum(path: string): void {
  using database = new DatabaseSync(path);
  database.exec('vacuum');
}

test('a damaged page is an error only for the data in it, and is shown by health', async () => {
  using dir = tempDir();
  const { store, log } = await storeWithDamage(dir.path);
  const before = store.health();
  await assert.rejects(store.readEvents('c', 0, 100), DAMAGED);
  assert.equal((await store.readEvents('a', 0, 100)).length, 20);
  assert.equal((await store.readEvents('b', 0, 100)).length, 20);
  const query = store.db.selectFrom('events').selectAll().where('ws_id', '=', 'c').orderBy('offset', 'desc');
  await assert.rejects(query.execute(), DAMAGED);
  assert.throws(() => store.bounds('c'), DAMAGED);
  assert.deepEqual(
    { before, after: store.health(), lines: log.lines },
    {
      before: { status: 'ok' },
      after: {
        status: 'degraded',
        reason: 'a part of the database is damaged: database disk image is malformed',
        damaged: true,
      },
      lines: [['error', 'a part of the database is damaged; everything else stays available']],
    },
  );
  await store.close();
});

test('only those units of a turn that touch the damage are refused', async () => {
  using dir = tempDir();
  const { store } = await storeWithDamage(dir.path);
  const outcomes = await Promise.allSettled([addTo('a'), addTo('c'), addTo('b')].map((unit) => store.commit(unit)));
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
    [21, DAMAGED.message, 21],
  );
  assert.equal(await store.commit(addTo('a')), 22);
  await store.close();
});
