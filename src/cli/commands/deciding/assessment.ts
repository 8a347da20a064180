import { OUTPUT_RISKS } from '../../../../protocol/events/output-warning.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, withClient } from '../../connect.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';
import { type RecordFlags, toRecordFilter } from './record-flags.ts';

interface AssessmentCommand {
  flags: RecordFlags;
  around: Surroundings;
  root: URL;
}

/** Prints what the output guard found in the outputs of calls, newest first. */
export async function listAssessments({ flags, around, root }: AssessmentCommand): Promise<void> {
  const params = toRecordFilter(flags, OUTPUT_RISKS);
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  const { assessments, total } = await withClient(caller, (client) => client.call('assessment.list', params));
  if (flags.json) process.stdout.write(`${JSON.stringify({ assessments, total }, null, 2)}\n`);
  else if (assessments.length === 0) process.stderr.write('No matching findings of the output guard.\n');
  else process.stdout.write(toTable(assessments));
  if (!flags.json && total > assessments.length)
    process.stderr.write(`${total - assessments.length} more; see --limit.\n`);
}

const toTable = (assessments: Result<'assessment.list'>['assessments']): string =>
  toTextTable([
    ['TIME', 'RISK', 'REDACTED', 'WORKSTREAM', 'TOOL', 'FOUND'],
    ...assessments.map(({ createdAtMs, riskLevel, redacted, wsId, tool, flags }) =>
      [new Date(createdAtMs).toISOString(), riskLevel, redacted ? 'yes' : 'no', wsId, tool, flags.join(', ')].map(
        (text) => toSafeText(text),
      ),
    ),
  ]);
