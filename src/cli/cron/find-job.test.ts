import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { StartError, UsageError } from '../../start-error.ts';
import { findJob, findNameClash, lookUpJob, readJobs } from './find-job.ts';
import { someJob } from './job-fixture.ts';

const jobs = [
  { id: 'abc1', name: 'mail' },
  { id: 'abd2', name: 'news' },
  { id: 'xyz3', name: 'twice' },
  { id: 'xyz4', name: 'twice' },
  { id: 'mail5', name: 'abc1' },
].map((named) => someJob(named));
const call: GatewayClient['call'] = async () => ({ jobs }) as never; // the answer to every call
const find = async (which: string) => (await findJob({ call }, which)).id;

test('a job is found by its id, its name, or an unambiguous beginning of its id', async () => {
  assert.deepEqual(
    [await find('abc1'), await find('mail'), await find('abd'), await find('news')],
    ['abc1', 'abc1', 'abd2', 'abd2'],
  );
});

test('an ambiguous name is wrong usage that lists the jobs; an unknown one fails', async () => {
  await assert.rejects(
    find('twice'),
    (error: Error) =>
      error instanceof UsageError && error.message === '2 jobs are called "twice" (xyz3 or xyz4). Use the id.',
  );
  await assert.rejects(find('ab'), UsageError);
  for (const none of ['nobody', ''])
    await assert.rejects(find(none), (error: Error) => error instanceof StartError && !(error instanceof UsageError));
});

test('jobs are sorted by their next run; jobs without one come last', async () => {
  const listed = [undefined, 9, 3].map((nextRunAtMs, n) => someJob({ id: `${n}`, state: { nextRunAtMs } }));
  const list: GatewayClient['call'] = async () => ({ jobs: listed }) as never; // as above
  assert.deepEqual(
    (await readJobs({ call: list })).map(({ id }) => id),
    ['2', '1', '0'],
  );
});

test('looking up a removed job is not an error, but an ambiguous name is', async () => {
  assert.deepEqual([(await lookUpJob({ call }, 'mail'))?.id, await lookUpJob({ call }, 'nobody')], ['abc1', undefined]);
  await assert.rejects(lookUpJob({ call }, 'twice'), UsageError);
});

test('a warning for a duplicate name lists the ids', () => {
  const called = (...ids: string[]) => ids.map((id) => someJob({ id, name: 'mail' }));
  const news = someJob({ id: 'n', name: 'news' });
  assert.equal(findNameClash(called('a', 'b'), news), undefined);
  assert.equal(findNameClash([news], news), undefined, 'it alone');
  assert.equal(
    findNameClash([news, ...called('a', 'b')], someJob({ id: 'b', name: 'mail' })),
    '2 jobs are called "mail" (a or b). Use the ids, or rename this one: headgate cron edit b --name NAME',
  );
  const many = called(...'abcdefgh');
  assert.match(
    findNameClash(many, someJob({ id: 'z', name: 'mail' })) ?? '',
    /^9 jobs .* \(a, b, c, d, e and 4 more\)\./,
  );
});
