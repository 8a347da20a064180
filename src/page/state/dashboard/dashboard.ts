import { type ReadonlySignal, signal } from '@preact/signals';
import type { Result } from '../../../../protocol/index.ts';
import type { Desk } from '../app.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { UsageReport } from '../usage/usage-report.ts';

/** Ten minutes per sample: as many as a chart has room for. */
const STEP_MINUTES = 10;

/** What the dashboard reads. Nothing is read until it is shown. */
export class Dashboard {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #history = signal<Result<'health.history'> | undefined>(undefined);
  /** By day, with the budgets. */
  readonly days: UsageReport;
  /** By model, workstream or person. */
  readonly shares: UsageReport;

  constructor(port: { client: Reader; now(): number }) {
    this.#client = port.client;
    this.reading = new Reading(port.client);
    this.days = new UsageReport(port);
    this.shares = new UsageReport(port);
    this.shares.by.value = 'model';
  }

  /** Of the last day; undefined until the first answer. */
  get history(): ReadonlySignal<Result<'health.history'> | undefined> {
    return this.#history;
  }

  async read(): Promise<void> {
    await Promise.all([
      this.reading.read(
        () => this.#client.call('health.history', { stepMinutes: STEP_MINUTES }),
        (history) => {
          this.#history.value = history;
        },
      ),
      this.days.read(),
      this.shares.read(),
    ]);
  }
}

const opened = new WeakMap<Desk, Dashboard>();

/** That of a desk, made when it is first shown: its code is not loaded before. */
export function dashboardOf(desk: Desk): Dashboard {
  const board = opened.get(desk) ?? new Dashboard(desk);
  opened.set(desk, board);
  return board;
}
