import assert from 'node:assert/strict';
import type { CronEvent } from '../../../protocol/cron.ts';
import type { DaemonUnderTest } from '../daemon/daemon.ts';
import { createArrivals } from './arrivals.ts';
import { openChecked } from './checked-client.ts';

/** A client that checks all frames against the contract, and records the events of jobs. */
export async function openCronClient(daemon: DaemonUnderTest) {
  const client = await openChecked(daemon);
  const told = createArrivals<CronEvent>();
  client.socket.on('message', (data) => {
    const frame = JSON.parse(String(data));
    if (frame.event === 'cron') told.add(frame.payload);
  });
  return {
    ...client,
    heard: (id: string, action: CronEvent['action']) =>
      told.until((event) => event.jobId === id && event.action === action, action),
    actions: (id: string) => told.all.filter(({ jobId }) => jobId === id).map(({ action }) => action),
    stateOf: async (id: string) => {
      const { jobs } = await client.ask('cron.list', { includeDisabled: true, extended: true });
      const job = jobs.find((one) => one.id === id);
      return job && 'misfire' in job ? job : assert.fail('no such job');
    },
    [Symbol.dispose]() {
      client.check();
      client.socket.close();
    },
  };
}
