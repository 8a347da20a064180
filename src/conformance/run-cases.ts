import { wordsOf } from '../../protocol/words-of.ts';
import type { ConformanceCase } from './conformance-case.ts';
import { createLab, type Server } from './lab.ts';
import { Inapplicable } from './verdict.ts';

export interface Finding {
  must: string;
  outcome: 'holds' | 'fails' | 'does not apply';
  /** What the server did instead, or why the case could not be tested. */
  reason?: string;
}

/** Runs the cases in order, slow ones in parallel, until `stopping` aborts. Calls `onFinding` in the order of the table. */
export async function runCases(
  cases: readonly ConformanceCase[],
  { server, stopping, onFinding }: { server: Server; stopping: AbortSignal; onFinding(finding: Finding): void },
): Promise<Finding[]> {
  const slow = new Map(cases.filter(({ slow: waits }) => waits).map((row) => [row, tryCase(row, server, stopping)]));
  const findings: Finding[] = [];
  for (const row of cases) {
    if (stopping.aborted) break;
    const finding = await (slow.get(row) ?? tryCase(row, server, stopping));
    if (stopping.aborted) break;
    onFinding(finding);
    findings.push(finding);
  }
  await Promise.all(slow.values()); // slow cases clean up, too
  return findings;
}

async function tryCase({ must, run }: ConformanceCase, server: Server, stopping: AbortSignal): Promise<Finding> {
  const lab = createLab(server, stopping);
  const verdict = await judge(() => run(lab));
  const cleaned = await judge(() => lab.clean());
  const told = verdict.outcome === 'holds' && cleaned.outcome === 'fails' ? cleaned : verdict;
  return { must, ...told };
}

async function judge(attempt: () => Promise<void>): Promise<Omit<Finding, 'must'>> {
  try {
    await attempt();
    return { outcome: 'holds' };
  } catch (error) {
    const reason = wordsOf(error);
    return { outcome: error instanceof Inapplicable ? 'does not apply' : 'fails', reason };
  }
}
