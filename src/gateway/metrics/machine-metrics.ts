import { Gauge, type Registry } from 'prom-client';
import type { SharedStore } from '../store/daemon-store.ts';
import type { KnownMachine } from '../store/postgres/lease/machines.ts';
import type { Survey } from '../workers/survey.ts';

/** What a daemon knows about the machines of its database. */
export interface MachineFigures {
  shared: Pick<SharedStore, 'epoch' | 'leaseAgeMs'>;
  /** Absent: this daemon uses no NATS server. */
  isBusConnected?: (() => boolean) | undefined;
  /** Of the active daemon. A worker has none. */
  survey: (() => Survey) | undefined;
}

interface Labelled {
  label: string;
  read(): [string, number][];
}

const STATES: readonly KnownMachine['state'][] = ['active', 'worker', 'standby', 'lost'];

/** Adds the series about machines. What a worker and a standby are is said where they listen. Call it once. */
export function observeMachines(registry: Registry, { shared, isBusConnected, survey }: MachineFigures): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge('service_lease_age_seconds', 'Time since the lease was renewed last', () => shared.leaseAgeMs() / 1000);
  if (isBusConnected)
    gauge('service_bus_connected', '1: the connection to the NATS server works', () => (isBusConnected() ? 1 : 0));
  if (!survey) return;
  gauge('service_lease_held', '1: this daemon is the active one', () => 1);
  gauge('service_lease_epoch', 'Rises each time that another daemon takes over', () => shared.epoch);
  const labelled = (name: string, help: string, { label, read }: Labelled) =>
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        for (const [value, count] of read()) this.set({ [label]: value }, count);
      },
    });
  labelled('service_machine_role', 'Always 1', { label: 'role', read: () => [['active', 1]] });
  labelled('service_machines', 'Machines of the database per state', {
    label: 'state',
    read() {
      const { machines } = survey();
      return STATES.map((state) => [state, machines.filter((machine) => machine.state === state).length]);
    },
  });
  gauge('service_machine_versions', 'Different versions of the machines that are there', () => {
    const there = survey().machines.filter(({ state }) => state !== 'lost');
    return new Set(there.map(({ version }) => version)).size;
  });
  gauge('service_workstreams_waiting', 'Open workstreams that wait for a machine that is not there', () =>
    [...survey().waiting.values()].reduce((sum, count) => sum + count, 0),
  );
}
