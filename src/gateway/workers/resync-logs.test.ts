import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempStore } from '../../testing/temp-store.ts';
import type { Audience } from '../sharing/audience.ts';
import { ANYONE, DAEMON, OF_EVERYONE, type Viewer } from '../sharing/perception.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import { insertWorkstream, toWorkstreamRow } from '../workstreams/workstream-rows.ts';
import { resyncLogs } from './resync-logs.ts';

const ADA: Viewer = { userId: 'ada', permissions: new Set() };

const row = (wsId: string, more: Partial<WorkstreamTable> = {}): WorkstreamTable => ({
  ...toWorkstreamRow({ owned: OF_EVERYONE, wsId, workdir: '/', workdirIno: '1', nowMs: 1 }),
  ...more,
});

async function resync(rows: readonly WorkstreamTable[], wsIds: readonly string[]) {
  await using store = await tempStore();
  for (const one of rows) await store.commit({ statements: [insertWorkstream(one)] });
  const steps: unknown[] = [];
  await resyncLogs(wsIds, {
    store,
    events: {
      resync: async (some) => void steps.push(['resync', some.length, some[0]]),
      end: (wsId) => void steps.push(['end', wsId]),
      leave: (wsId, { includes }: Audience) => void steps.push(['leave', wsId, [DAEMON, ADA, ANYONE].map(includes)]),
    },
  });
  return steps;
}

test('the readers of logs that were closed or deleted meanwhile are ended, and others go on', async () => {
  const rows = [
    row('open'),
    row('unloaded', { loaded: 2 }),
    row('closed', { loaded: 0 }),
    row('deleted', { loaded: 3 }),
  ];
  assert.deepEqual(await resync(rows, ['open', 'closed', 'deleted', 'gone', 'unloaded']), [
    ['end', 'closed'],
    ['end', 'deleted'],
    ['end', 'gone'],
    ['resync', 2, 'open'],
  ]);
});

test('readers of a log that became private meanwhile are ended unless they may read it', async () => {
  const rows = [row('hers', { owner_id: 'ada', visibility: 'private' })];
  assert.deepEqual(await resync(rows, ['hers']), [
    ['leave', 'hers', [false, false, true]],
    ['resync', 1, 'hers'],
  ]);
});

test('as many logs as there are are read again, in parts', async () => {
  const wsIds = Array.from({ length: 1_001 }, (_, n) => `w${n}`);
  const steps = await resync(
    wsIds.map((wsId) => row(wsId)),
    wsIds,
  );
  assert.deepEqual(steps, [
    ['resync', 500, 'w0'],
    ['resync', 500, 'w500'],
    ['resync', 1, 'w1000'],
  ]);
});
