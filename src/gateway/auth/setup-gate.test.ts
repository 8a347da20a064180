import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createSetupGate, type SetupMode } from './setup-gate.ts';

const MINUTE_MS = 60_000;

async function needs(mode: SetupMode, isLoopback: boolean, isShared = false): Promise<boolean[]> {
  const clock = fakeClock();
  const gate = createSetupGate({ mode, isLoopback, isShared, clock, ids: randomIds });
  const atStart = gate.needsCode();
  await clock.advance(15 * MINUTE_MS);
  return [atStart, gate.needsCode()];
}

test('the first user needs the code as configured; by default after 15 minutes where others can reach the daemon', async () => {
  assert.deepEqual(await needs('auto', true), [false, false]);
  assert.deepEqual(await needs('auto', false), [false, true]);
  assert.deepEqual(await needs('auto', true, true), [false, true], 'by a standby');
  assert.deepEqual(await needs('open', false, true), [false, false]);
  assert.deepEqual(await needs('code', true), [true, true]);
});

test('only the code of this start is accepted', () => {
  const open = () =>
    createSetupGate({ mode: 'code', isLoopback: true, isShared: false, clock: fakeClock(), ids: randomIds });
  const [gate, other] = [open(), open()];
  assert.match(gate.code, /^[0-9a-f]{32}$/);
  assert.deepEqual(
    [gate.admits(gate.code), gate.admits(other.code), gate.admits(''), gate.admits(undefined)],
    [true, false, false, false],
  );
});
