import { RISK_LEVELS } from '../../../../protocol/events/verdict.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, withClient } from '../../connect.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';
import { type RecordFlags, toRecordFilter } from './record-flags.ts';

interface VerdictCommand {
  flags: RecordFlags;
  around: Surroundings;
  root: URL;
}

/** Prints what the judge said about calls, newest first. */
export async function listVerdicts({ flags, around, root }: VerdictCommand): Promise<void> {
  const params = toRecordFilter(flags, RISK_LEVELS);
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  const { verdicts, total } = await withClient(caller, (client) => client.call('verdict.list', params));
  if (flags.json) process.stdout.write(`${JSON.stringify({ verdicts, total }, null, 2)}\n`);
  else if (verdicts.length === 0) process.stderr.write('There is no verdict that fits.\n');
  else process.stdout.write(toTable(verdicts));
  if (!flags.json && total > verdicts.length) process.stderr.write(`${total - verdicts.length} more; see --limit.\n`);
}

const toTable = (verdicts: Result<'verdict.list'>['verdicts']): string =>
  toTextTable([
    ['TIME', 'RISK', 'BY', 'DECISION', 'TOOL', 'WHAT IT DOES'],
    ...verdicts.map(({ createdAtMs, riskLevel, tier, judgeModel, decision, tool, summary }) =>
      [
        new Date(createdAtMs).toISOString(),
        riskLevel,
        tier === 'llm' ? judgeModel : 'rules',
        decision,
        tool,
        summary,
      ].map((text) => toSafeText(text)),
    ),
  ]);
