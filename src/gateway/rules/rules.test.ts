import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import { ToolPolicies } from '../policies/tool-policies.ts';
import { Rules } from './rules.ts';

const PLACE = { wsId: 'w', workdir: '/w', ownerId: 'ada' };

test('what calls are compared with ends with the first rule that ends, by whichever clock', async () => {
  await using store = await tempStore();
  const clock = fakeClock(1_000_000);
  const policies = new ToolPolicies({ store, clock, ids: randomIds });
  await policies.load();
  const rules = new Rules({ store, policies, clock, ids: randomIds, log: recordingLog() });
  await rules.load();
  const match = { program: 'touch' };
  for (const lastsMs of [60_000, 120_000, undefined])
    await rules.create({ action: 'allow', match, by: 'ada', ...(lastsMs && { lastsMs }) }, () => []);
  const prepared = rules.of(PLACE);
  assert.equal(rules.of(PLACE), prepared, 'kept for the next call');
  clock.jump(-3_600_000);
  await clock.advance(59_999);
  assert.equal(rules.of(PLACE), prepared);
  await clock.advance(1);
  const later = rules.of(PLACE);
  assert.notEqual(later, prepared);
  assert.equal(rules.list().length, 2);
  clock.jump(2 * 3_600_000);
  assert.notEqual(rules.of(PLACE), later);
  assert.equal(rules.list().length, 1);
});
