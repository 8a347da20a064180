import type { Evidence, Finding } from '../evidence.ts';

const MIB = 1024 * 1024;

/** The process stays within its budget (I9, promise 5). */
export function* withinBudget({ memory: { budgetBytes, samples } }: Evidence): Generator<Finding> {
  const worst = samples.reduce((most, sample) => (sample.bytes > most.bytes ? sample : most), { atMs: 0, bytes: 0 });
  if (worst.bytes <= budgetBytes) return;
  const [found, budget] = [worst.bytes, budgetBytes].map((bytes) => `${Math.round(bytes / MIB)} MiB`);
  yield { what: `the daemon used ${found}, but the budget is ${budget}`, where: new Date(worst.atMs).toISOString() };
}
