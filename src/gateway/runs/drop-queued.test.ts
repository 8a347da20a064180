import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../sharing/perception.ts';
import { unavailable } from '../store/store-fault.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { dropQueued } from './drop-queued.ts';
import { RunQueue } from './run-queue.ts';
import type { RunRecord } from './run-record.ts';

const runNamed = (runId: string): RunRecord => ({
  ...{ runId, wsId: 'ws', principal: 'operator', source: 'person', epoch: 0, acceptedMs: 1 },
  request: { message: runId, rights: 'approve' },
});

test('a message that could not be accepted does not bring back those that are dropped with it', async () => {
  await using gateway = await wholeGateway();
  const { data } = await gateway.parts.workstreams.get(await gateway.main(), DAEMON);
  const queue = new RunQueue(() => undefined);
  const one = queue.add(runNamed('one'), { isStored: true });
  const two = queue.add(runNamed('two'), { isStored: false });
  const commits: number[] = [];
  const dropped: string[] = [];
  const done = Promise.withResolvers<void>();
  const deps = {
    store: {
      async commit({ statements = [] }: { statements?: readonly unknown[] }) {
        commits.push(statements.length);
        if (commits.length > 1) return 0;
        queue.refused(two); // both commits are lost with the connection
        throw unavailable('The database cannot be written');
      },
    },
    clock: { now: () => 5 },
    observer: {
      onFree: () => undefined,
      onDropped(_: unknown, run: RunRecord) {
        dropped.push(run.runId);
        done.resolve();
      },
    },
    log: { error: () => assert.fail('it gave up') },
  };
  await dropQueued([one, two], { data, queue }, { deps, wake: () => undefined, pause: async () => true });
  await done.promise;
  assert.deepEqual([commits, dropped, queue.stored(), queue.all()], [[4, 2], ['one'], [], []]);
});
