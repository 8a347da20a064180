import { Gauge, type Registry } from 'prom-client';

/** A gauge with labels. */
interface Series {
  labels: string[];
  read(): [Record<string, string>, number][];
}

/** Adds gauges that read what they show when they are asked. */
export const gaugesIn = (registry: Registry) => ({
  gauge: (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    }),
  /** Label names are listed and looked up one by one, because what is read may have more fields than its type. */
  labelled: (name: string, help: string, series: Series) =>
    new Gauge({
      name,
      help,
      labelNames: series.labels,
      registers: [registry],
      collect() {
        this.reset(); // drops the series of a model that is no longer used
        for (const [values, value] of series.read()) {
          this.set(Object.fromEntries(series.labels.map((label) => [label, values[label] ?? ''])), value);
        }
      },
    }),
});
