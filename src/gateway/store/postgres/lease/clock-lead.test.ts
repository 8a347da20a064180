import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../../clock.ts';
import { needs } from '../../../../testing/needs.ts';
import { sharedPostgres } from '../../../../testing/postgres-server.ts';
import { someMachine } from '../../../../testing/some-machine.ts';
import { recordingLog } from '../../../../testing/temp-store.ts';
import { readLeadOver } from '../inspect-postgres.ts';
import { openPostgresStore } from '../postgres-store.ts';
import { openCandidate } from './candidate.ts';

const installed = await needs('postgresql');

/** The clock of a machine that is wrong by so much. */
const wrongBy = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms });

const WARNING = ['warn', 'the clock of this machine and that of the database differ'];
const HOUR_MS = 3_600_000;

for (const [what, ms, warnings] of [
  ['an hour ahead', HOUR_MS, [WARNING]],
  ['an hour behind', -HOUR_MS, [WARNING]],
  ['a little behind', -2_000, []],
] as const)
  test(`the clock of a machine is compared with that of the database: ${what}`, installed, async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const clock = wrongBy(ms);
    assert.ok(Math.abs((await readLeadOver(url, clock)) - ms) < 1_000);
    const log = recordingLog();
    const isWarning = ([level]: readonly string[]) => level === 'warn';
    const store = await openPostgresStore({ url, machine: someMachine('a'), clock, log });
    assert.deepEqual(log.lines.filter(isWarning), warnings);
    const waiting = await openCandidate({ url, machine: someMachine('b'), handedOver: undefined, clock, log });
    assert.deepEqual(log.lines.filter(isWarning), [...warnings, ...warnings]);
    await waiting.close({ isOver: true });
    await store.close();
  });
