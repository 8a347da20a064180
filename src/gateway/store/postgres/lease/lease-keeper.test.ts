import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { needs } from '../../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../../testing/postgres-server.ts';
import { someMachine } from '../../../../testing/some-machine.ts';
import { recordingLog } from '../../../../testing/temp-store.ts';
import { messageOf, postgresFaultOf } from '../postgres-errors.ts';
import { keepLease } from './lease-keeper.ts';

const installed = await needs('postgresql');

test('a lease that is late is told until somebody takes that for a lost server', installed, async () => {
  const url = new URL(await (await sharedPostgres()).createDatabase());
  await queryPostgres(url.href, `create role none_left login password 'none' connection limit 0`);
  const clock = fakeClock(1_000);
  const told: string[] = [];
  const keeper = keepLease({
    url: Object.assign(new URL(url), { username: 'none_left', password: 'none' }).href,
    lease: { name: 'daemon', owner: 'a', epoch: 1 },
    machine: someMachine(),
    clock,
    log: recordingLog(),
    onTaken: () => assert.fail('nobody took it'),
    onLate(error) {
      told.push(messageOf(error));
      return postgresFaultOf(error) === 'lost';
    },
  });
  const untilTold = async (pattern: RegExp) => {
    while (!pattern.test(told.at(-1) ?? '')) await clock.advance(1_000);
  };
  await untilTold(/too many connections for role/);
  await queryPostgres(url.href, 'alter role none_left nologin');
  await untilTold(/not permitted to log in/);
  for (let seconds = 0; seconds < 20; seconds += 1) await clock.advance(1_000);
  assert.equal(told.filter((message) => /not permitted/.test(message)).length, 1);
  await keeper.close();
});
