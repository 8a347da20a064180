import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPartLoader, PartError } from './part-loader.ts';

const rows = {
  list: { file: 'list-1.js', integrity: 'sha256-L', needs: ['rows'] },
  rows: { file: 'rows-2.js', integrity: 'sha256-R', needs: [] },
};

/** A loader whose scripts run at once, unless `fails` says otherwise. */
function loaderWith({ status }: { status?: number } = {}) {
  const ran: string[] = [];
  const server = { fails: false, status };
  const loader = createPartLoader({
    parts: {},
    rows,
    async run(address, integrity) {
      ran.push(`${address} ${integrity}`);
      if (server.fails) throw new Error('error event');
      const name = address.slice('/static/'.length, -'-1.js'.length);
      loader.parts[name] = { name };
    },
    statusOf: async () => server.status,
  });
  return { loader, ran, server };
}

test('a part is loaded once, after the parts that it needs', async () => {
  const { loader, ran } = loaderWith();
  const [first, second] = await Promise.all([loader.load('list'), loader.load('list')]);
  assert.deepEqual([first, second, await loader.load('rows')], [{ name: 'list' }, { name: 'list' }, { name: 'rows' }]);
  assert.deepEqual(ran, ['/static/rows-2.js sha256-R', '/static/list-1.js sha256-L']);
});

test('a load that failed is tried again', async () => {
  const { loader, ran, server } = loaderWith();
  server.fails = true;
  await assert.rejects(loader.load('rows'), (error) => error instanceof PartError && !error.isGone);
  server.fails = false;
  assert.deepEqual(await loader.load('rows'), { name: 'rows' });
  assert.equal(ran.length, 2);
});

for (const [status, isGone] of [
  [404, true],
  [200, true],
  [503, false],
  [undefined, false],
] as const)
  test(`a part that is answered with ${status} ${isGone ? 'is gone' : 'may come later'}`, async () => {
    const { loader, server } = loaderWith(status === undefined ? {} : { status });
    server.fails = true;
    await assert.rejects(loader.load('list'), (error) => error instanceof PartError && error.isGone === isGone);
  });
