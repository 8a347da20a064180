import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { untilTrue } from '../../testing/until-true.ts';
import type { KnownMachine } from '../store/postgres/lease/machines.ts';
import { createSurvey } from './survey.ts';

const ACTIVE: KnownMachine = {
  ...{ nodeId: 'a', serverUrl: '', version: '1.0.0', labels: [], state: 'active' },
  ...{ isHere: true, startedMs: 0, seenAgoMs: 0 },
};

test('the machines are looked at each second, and while the database is away, the last look holds', async () => {
  const [clock, log, over] = [fakeClock(0), recordingLog(), new AbortController()];
  let isAway = true;
  const machines = async () => {
    if (isAway) throw new Error('away');
    return [ACTIVE];
  };
  const survey = createSurvey({ shared: { machines }, waiting: { list: async () => ['one', 'two'] }, clock, log });
  const run = survey.run(over.signal);
  await untilTrue(() => log.lines.length === 1);
  assert.deepEqual(survey.latest(), { machines: [], waiting: 0 });
  isAway = false;
  await clock.advance(1_000);
  await untilTrue(() => survey.latest().machines.length === 1);
  isAway = true;
  await clock.advance(1_000);
  await untilTrue(() => log.lines.length === 2);
  assert.deepEqual(survey.latest(), { machines: [ACTIVE], waiting: 2 });
  over.abort();
  await run;
});
