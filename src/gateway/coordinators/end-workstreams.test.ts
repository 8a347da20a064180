import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { DAEMON } from '../sharing/perception.ts';
import { closeAll } from './end-workstreams.ts';

const COUNT = 128;
const rows = Array.from({ length: COUNT }, (_, at) => ({ ws_id: `ws-${at}`, loaded: at === 5 ? 0 : 1 }));

test('children are closed 16 at a time: one that fails or is gone keeps no other waiting', async () => {
  const open = new Map<string, PromiseWithResolvers<void>>();
  const tried: string[] = [];
  let most = 0;
  const workstreams = {
    find: () => undefined,
    async close(wsId: string) {
      tried.push(wsId);
      const closing = Promise.withResolvers<void>();
      open.set(wsId, closing);
      most = Math.max(most, open.size);
      await closing.promise;
    },
  };
  const closing = closeAll(rows, DAEMON, { workstreams, log: { warn: () => undefined } });
  const endOne = async ([wsId, { resolve, reject }]: [string, PromiseWithResolvers<void>]) => {
    open.delete(wsId);
    if (wsId === 'ws-7') reject(new GatewayError('NOT_FOUND', 'closed meanwhile'));
    else if (wsId === 'ws-9') reject(new Error('the disk is full'));
    else resolve();
    await new Promise(setImmediate);
  };
  // Those that hang hold back none of the others: the newest ends first.
  for (let next = [...open].at(-1); next !== undefined; next = [...open].at(-1)) await endOne(next);
  const { done, failed, skipped } = await closing;
  assert.deepEqual([most, tried.length, done.length], [16, COUNT - 1, COUNT - 3]);
  assert.deepEqual([failed, skipped], [['ws-9'], ['ws-5', 'ws-7']]);
  assert.deepEqual(
    done,
    rows.map(({ ws_id }) => ws_id).filter((wsId) => ![...failed, ...skipped].includes(wsId)),
  );
});
