import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { recordingLog } from '../testing/temp-store.ts';
import { createStopSignals } from './stop-signals.ts';

function arrange() {
  const stopping = Promise.withResolvers<void>();
  const clock = fakeClock();
  const log = recordingLog();
  const reasons: string[] = [];
  const exits: number[] = [];
  const onSignal = createStopSignals({
    stop(reason) {
      reasons.push(reason);
      return stopping.promise;
    },
    exit: (code) => void exits.push(code),
    clock,
    log,
  });
  return { onSignal, clock, log, reasons, exits, stopping };
}

test('a signal stops the daemon, and the process exits with 0 when everything is written', async () => {
  const { onSignal, reasons, exits, stopping, clock } = arrange();
  onSignal('SIGTERM');
  await clock.advance(4_000);
  assert.deepEqual([reasons, exits], [['SIGTERM'], []]);
  stopping.resolve();
  await clock.advance(0);
  await clock.advance(10_000);
  assert.deepEqual(exits, [0]);
});

test('the same signal again within a second, as npm sends it, is ignored', async () => {
  const { onSignal, reasons, exits, clock } = arrange();
  onSignal('SIGINT');
  await clock.advance(999);
  onSignal('SIGINT');
  assert.deepEqual([reasons, exits], [['SIGINT'], []]);
});

test('another signal after a second ends the process at once', async () => {
  const { onSignal, reasons, exits, clock } = arrange();
  onSignal('SIGINT');
  await clock.advance(1_000);
  onSignal('SIGINT');
  assert.deepEqual([reasons, exits], [['SIGINT'], [130]]);
});

test('if the daemon does not stop within four and a half seconds, the process exits with 1', async () => {
  const { onSignal, exits, clock, log } = arrange();
  onSignal('SIGTERM');
  await clock.advance(4_499);
  assert.deepEqual(exits, []);
  await clock.advance(1);
  assert.deepEqual(exits, [1]);
  assert.deepEqual(log.lines.at(-1)?.[0], 'error');
});

test('if the stop fails, the process exits with 1', async () => {
  const { onSignal, exits, stopping, clock } = arrange();
  onSignal('SIGTERM');
  stopping.reject(new Error('the disk is full'));
  await clock.advance(0);
  await clock.advance(10_000);
  assert.deepEqual(exits, [1]);
});
