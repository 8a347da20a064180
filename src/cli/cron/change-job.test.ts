import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { CronExtendedJob } from '../../../protocol/cron.ts';
import { changeJob } from './change-job.ts';
import { someJob } from './job-fixture.ts';

/** A daemon in which another client changes the job right after it was read, so many times. */
function contested(times: number) {
  const stored = { job: someJob({ id: 'mail', name: 'mail' }), left: times };
  const call: GatewayClient['call'] = async (method, ...[params]) => {
    const read = structuredClone(stored.job);
    if (method === 'cron.list') {
      if (stored.left > 0) stored.job = { ...read, revision: read.revision + 1, maxRunMs: read.maxRunMs + 1 };
      stored.left -= 1;
      return { jobs: [read] } as never; // as in its row
    }
    const { revision, patch } = params as { revision: number; patch: Partial<CronExtendedJob> }; // an update
    if (revision !== read.revision) throw new RequestError('CONFLICT', 'changed meanwhile');
    stored.job = { ...read, ...patch, revision: revision + 1 };
    return stored.job as never;
  };
  return { call };
}
const addOne = ({ maxRunMs }: CronExtendedJob) => ({ maxRunMs: maxRunMs + 100 });

test('a concurrent change of the job is not overwritten', async () => {
  assert.partialDeepStrictEqual(await changeJob(contested(0), 'mail', addOne), { maxRunMs: 101, revision: 2 });
  assert.partialDeepStrictEqual(await changeJob(contested(2), 'mail', addOne), { maxRunMs: 103, revision: 4 });
});

test('the change fails after too many conflicts, and at once after any other error', async () => {
  await assert.rejects(changeJob(contested(100), 'mail', addOne), { code: 'CONFLICT' });
  const { call } = contested(0);
  let asked = 0;
  const refusing: GatewayClient['call'] = (method, ...params) => {
    if (method !== 'cron.update') return call(method, ...params);
    asked += 1;
    throw new RequestError('INVALID_REQUEST', 'no');
  };
  await assert.rejects(changeJob({ call: refusing }, 'mail', addOne), { code: 'INVALID_REQUEST' });
  assert.equal(asked, 1);
});
