import type { Sample } from './samples.ts';
import { judge, type Trend, trendOf } from './trend.ts';

const MIB = 1024 * 1024;

/**
 * How much a value at rest may grow in an hour; a value without a bound is only reported. The heap after a full
 * collection is exact to a few hundred KiB; the memory of the process also depends on the allocator.
 */
const BOUNDS: Record<string, { perHour?: number; unit?: 'MiB' }> = {
  heapBytes: { perHour: 2 * MIB, unit: 'MiB' },
  externalBytes: { perHour: 2 * MIB, unit: 'MiB' },
  rssBytes: { perHour: 16 * MIB, unit: 'MiB' },
  pssBytes: { perHour: 16 * MIB, unit: 'MiB' },
  storedBytes: { unit: 'MiB' },
  timersAlive: { perHour: 4 },
  signalsAlive: { perHour: 20 },
  promisesAlive: { perHour: 100 },
  socketsAlive: { perHour: 4 },
  childrenAlive: { perHour: 1 },
  resources: { perHour: 4 },
  threads: { perHour: 1 },
  files: { perHour: 4 },
  sockets: { perHour: 4 },
  children: { perHour: 1 },
  streams: { perHour: 1 },
  webSockets: { perHour: 1 },
  workstreams: { perHour: 1 },
};

export interface Row {
  name: string;
  unit: 'MiB' | undefined;
  trend: Trend;
  maxPerHour: number | undefined;
  verdict: 'flat' | 'grows' | 'unclear' | 'told';
}

/** One row for every value of the samples at rest after the warm-up. */
export function judgeSamples(samples: readonly Sample[], warmUpMinutes: number): Row[] {
  const judged = samples.filter(({ minutes }) => minutes >= warmUpMinutes);
  return Object.entries(BOUNDS).map(([name, { perHour, unit }]) => {
    const trend = trendOf(judged.map((sample) => ({ x: sample.minutes / 60, y: sample[name] ?? Number.NaN })));
    return { name, unit, trend, maxPerHour: perHour, verdict: perHour === undefined ? 'told' : judge(trend, perHour) };
  });
}

export function toTable(rows: readonly Row[]): string {
  const cells = rows.map(({ name, unit, trend, maxPerHour, verdict }) => {
    const show = (value: number) => (unit === 'MiB' ? (value / MIB).toFixed(2) : value.toFixed(1));
    return [
      unit === 'MiB' ? name.replace('Bytes', ' (MiB)') : name,
      show(trend.first),
      show(trend.last),
      `${show(trend.slope)} ± ${show(2 * trend.error)}`,
      maxPerHour === undefined ? '' : show(maxPerHour),
      verdict,
    ];
  });
  const lines = [['at rest', 'first', 'last', 'slope per hour', 'allowed', 'verdict'], ...cells];
  const widths = [0, 1, 2, 3, 4, 5].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
    )
    .join('\n');
}
