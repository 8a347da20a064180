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
const call: GatewayClient['call'] = async () => ({ jobs }) as never; // whatever is asked, these are there
const find = async (which: string) => (await findJob({ call }, which)).id;

test('a job is found by its id, its name, or a beginning of the id that no other has', async () => {
  assert.deepEqual(
    [await find('abc1'), await find('mail'), await find('abd'), await find('news')],
    ['abc1', 'abc1', 'abd2', 'abd2'],
  );
});

test('what could mean several is wrong usage and names them; what nobody has fails', async () => {
  await assert.rejects(
    find('twice'),
    (error: Error) =>
      error instanceof UsageError && error.message === '2 jobs are called "twice" (xyz3 or xyz4): say which by its id.',
  );
  await assert.rejects(find('ab'), UsageError);
  for (const none of ['nobody', ''])
    await assert.rejects(find(none), (error: Error) => error instanceof StartError && !(error instanceof UsageError));
});

test('jobs come in the order of their next run, those that wait for nothing last', async () => {
  const listed = [undefined, 9, 3].map((nextRunAtMs, n) => someJob({ id: `${n}`, state: { nextRunAtMs } }));
  const list: GatewayClient['call'] = async () => ({ jobs: listed }) as never; // as above
  assert.deepEqual(
    (await readJobs({ call: list })).map(({ id }) => id),
    ['2', '1', '0'],
  );
});

test('a job that may be gone is looked up without a complaint, unless several could be meant', async () => {
  assert.deepEqual([(await lookUpJob({ call }, 'mail'))?.id, await lookUpJob({ call }, 'nobody')], ['abc1', undefined]);
  await assert.rejects(lookUpJob({ call }, 'twice'), UsageError);
});

test('a name that others have is told, with the ids to tell them apart by', () => {
  const called = (...ids: string[]) => ids.map((id) => someJob({ id, name: 'mail' }));
  const news = someJob({ id: 'n', name: 'news' });
  assert.equal(findNameClash(called('a', 'b'), news), undefined);
  assert.equal(findNameClash([news], news), undefined, 'it alone');
  assert.equal(
    findNameClash([news, ...called('a', 'b')], someJob({ id: 'b', name: 'mail' })),
    '2 jobs are called "mail" (a or b): say which by its id, or rename it (headgate cron edit b --name NAME)',
  );
  const many = called(...'abcdefgh');
  assert.match(
    findNameClash(many, someJob({ id: 'z', name: 'mail' })) ?? '',
    /^9 jobs .* \(a, b, c, d, e and 4 more\):/,
  );
});
