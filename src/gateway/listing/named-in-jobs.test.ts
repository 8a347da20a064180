import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { NamedInJobs, type UnnamedInJobs } from './named-in-jobs.ts';

const DAY = 86_400_000;

const addJob = ({ call }: WholeGateway, message: string) =>
  call('cron.add', {
    schedule: { kind: 'every', everyMs: DAY },
    sessionTarget: 'isolated',
    wakeMode: 'next-heartbeat',
    payload: { kind: 'agentTurn', message },
  });

async function withWorkstreams() {
  const gateway = await wholeGateway();
  const create = async () => (await gateway.call('workstream.create', {})).wsId;
  const wsIds = [await create(), await create(), await create()] as const;
  const inJobs = new NamedInJobs(gateway);
  /** What the unit finds that relies on it. */
  const stillIn = async (wsId: string, unnamed: UnnamedInJobs | undefined) => {
    const rows = gateway.store.db.selectFrom('workstreams').select('ws_id').where('ws_id', '=', wsId);
    return unnamed && (await rows.where(unnamed.still).execute()).length === 1;
  };
  return { gateway, wsIds, inJobs, stillIn };
}

test('a job names a workstream by its id, also right after an escape', async () => {
  const { gateway, wsIds, inJobs, stillIn } = await withWorkstreams();
  await using _ = gateway;
  const [plain, escaped, other] = wsIds;
  await addJob(gateway, `tell ${plain}`);
  await addJob(gateway, `tell \f${escaped}, or \u001b${escaped}`);
  assert.deepEqual([await inJobs.unless(plain), await inJobs.unless(escaped)], [undefined, undefined]);
  assert.equal(await stillIn(other, await inJobs.unless(other)), true);
});

test('a job that was added since the jobs were read is found by the unit, also after the clock was set back', async () => {
  const { gateway, wsIds, inJobs, stillIn } = await withWorkstreams();
  await using _ = gateway;
  const [first, second] = wsIds;
  gateway.clock.jump(2 * DAY);
  const unnamed = await inJobs.unless(first);
  gateway.clock.jump(1_000);
  await addJob(gateway, `tell ${first}`);
  assert.equal(await stillIn(first, unnamed), false);
  assert.equal(await stillIn(second, await inJobs.unless(second)), true);
  gateway.clock.jump(-DAY);
  await addJob(gateway, `tell ${second}`);
  assert.equal(await inJobs.unless(second), undefined);
});
