import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempStore } from '../../testing/temp-store.ts';
import { DAEMON, OF_EVERYONE } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import { insertWorkstream, toWorkstreamRow } from '../workstreams/workstream-rows.ts';
import { createSavedWorkstreams } from './saved-workstreams.ts';

test('a search finds the same, in the same order, however many rows are looked at in one turn', async () => {
  await using store = await tempStore();
  const rows = Array.from(
    { length: 30 },
    (_, n): WorkstreamTable => ({
      ...toWorkstreamRow({
        owned: OF_EVERYONE,
        wsId: `ws-${(n * 7) % 30}`.padEnd(6, 'x'),
        workdir: '/',
        workdirIno: '1',
        nowMs: Math.floor(n / 4),
      }),
      title: n % 3 === 0 ? 'a walk in the garden' : 'a talk',
      message_count: n === 6 ? 0 : 2,
      loaded: n === 4 ? DELETED : 0,
    }),
  );
  await store.commit({ statements: rows.map(insertWorkstream) });
  const models = { current: () => ({ alias: 'a', provider: 'p', modelId: 'm' }) };
  const listWith = (searchedAtOnce: number) => {
    const saved = createSavedWorkstreams({ store, models, workstreams: { find: () => undefined }, searchedAtOnce });
    return async (page: Parameters<typeof saved.list>[0]) =>
      (await saved.list({ search: 'garden WALK', ...page }, DAEMON)).map(({ wsId }) => wsId);
  };
  const isFound = ({ title, message_count, loaded }: (typeof rows)[number]) =>
    title?.includes('garden') === true && message_count > 0 && loaded !== DELETED;
  const all = rows
    .filter(isFound)
    .sort((a, b) => b.updated_ms - a.updated_ms || (a.ws_id < b.ws_id ? 1 : -1))
    .map((row) => ({ before: row.updated_ms, beforeWsId: row.ws_id }));
  const ids = all.map(({ beforeWsId }) => beforeWsId);
  assert.equal(ids.length, 9);
  for (const atOnce of [1, 2, 7, 100]) {
    const list = listWith(atOnce);
    assert.deepEqual([await list({}), await list({ limit: 4 })], [ids, ids.slice(0, 4)]);
    for (const [index, place] of all.entries()) assert.deepEqual(await list(place), ids.slice(index + 1));
  }
});
