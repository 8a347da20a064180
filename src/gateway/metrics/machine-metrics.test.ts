import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KnownMachine } from '../store/postgres/lease/machines.ts';
import type { MachineFigures } from './machine-metrics.ts';
import { createMetrics } from './metrics.ts';

const machine = (state: KnownMachine['state'], version = '1.0.0'): KnownMachine => ({
  nodeId: state,
  serverUrl: '',
  version,
  labels: [],
  state,
  isHere: state === 'active',
  startedMs: 0,
  seenAgoMs: 0,
});

const SHARED = { epoch: 4, leaseAgeMs: () => 1_500 };

async function linesOf(figures: MachineFigures): Promise<string[]> {
  const metrics = createMetrics();
  metrics.observeMachines(figures);
  return (await metrics.text()).split('\n').filter((line) => /^service_(lease|machine|bus|workstreams_w)/.test(line));
}

test('the active daemon counts the machines, their versions, and what waits for a machine that is not there', async () => {
  const machines = [machine('active'), machine('worker', '1.0.1'), machine('worker'), machine('lost', '0.9.0')];
  const survey = { machines, waiting: 5 };
  assert.deepEqual(await linesOf({ shared: SHARED, isBusConnected: () => false, survey: () => survey }), [
    'service_lease_age_seconds 1.5',
    'service_bus_connected 0',
    'service_lease_held 1',
    'service_lease_epoch 4',
    'service_machine_role{role="active"} 1',
    'service_machines{state="active"} 1',
    'service_machines{state="worker"} 2',
    'service_machines{state="standby"} 0',
    'service_machines{state="lost"} 1',
    'service_machine_versions 2',
    'service_workstreams_waiting 5',
  ]);
});

test('a worker leaves to the place where it listens what it is', async () => {
  assert.deepEqual(await linesOf({ shared: SHARED, isBusConnected: () => true, survey: undefined }), [
    'service_lease_age_seconds 1.5',
    'service_bus_connected 1',
  ]);
});
