import type { Registry } from 'prom-client';
import type { SharedStore } from '../store/daemon-store.ts';
import type { KnownMachine } from '../store/postgres/lease/machines.ts';
import type { Survey } from '../workers/survey.ts';
import { gaugesIn } from './gauges.ts';

/** What a daemon knows about the machines of its database. */
export interface MachineFigures {
  shared: Pick<SharedStore, 'epoch' | 'leaseAgeMs'>;
  /** Absent: this daemon uses no NATS server. */
  isBusConnected?: (() => boolean) | undefined;
  /** Of the active daemon. A worker has none. */
  survey: (() => Survey) | undefined;
}

const STATES: readonly KnownMachine['state'][] = ['active', 'worker', 'standby', 'lost'];

/** Adds the series about machines. What a worker and a standby are is said where they listen. Call it once. */
export function observeMachines(registry: Registry, { shared, isBusConnected, survey }: MachineFigures): void {
  const { gauge, labelled } = gaugesIn(registry);
  gauge('service_lease_age_seconds', 'Time since the lease was renewed last', () => shared.leaseAgeMs() / 1000);
  if (isBusConnected)
    gauge('service_bus_connected', '1: the connection to the NATS server works', () => (isBusConnected() ? 1 : 0));
  if (!survey) return;
  gauge('service_lease_held', '1: this daemon is the active one', () => 1);
  gauge('service_lease_epoch', 'Rises each time that another daemon takes over', () => shared.epoch);
  labelled('service_machine_role', 'Always 1', { labels: ['role'], read: () => [[{ role: 'active' }, 1]] });
  labelled('service_machines', 'Machines of the database per state', {
    labels: ['state'],
    read() {
      const { machines } = survey();
      return STATES.map((state) => [{ state }, machines.filter((machine) => machine.state === state).length]);
    },
  });
  gauge('service_machine_versions', 'Different versions of the machines that are there', () => {
    const there = survey().machines.filter(({ state }) => state !== 'lost');
    return new Set(there.map(({ version }) => version)).size;
  });
  gauge(
    'service_workstreams_waiting',
    'Open workstreams that wait for a machine that is not there',
    () => survey().waiting,
  );
}
