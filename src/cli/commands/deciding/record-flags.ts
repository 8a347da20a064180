import { UsageError } from '../../../start-error.ts';
import type { TargetFlags } from '../../connect.ts';

/** The flags of a list of records about calls. */
export interface RecordFlags extends TargetFlags {
  risk?: string;
  workstream?: string;
  limit: string;
  json?: boolean;
}

const MOST = 500;

/** The parameters that the flags stand for. `levels`: the risk levels of the records. */
export function toRecordFilter<Level extends string>(
  { risk, workstream, limit: given }: RecordFlags,
  levels: readonly Level[],
): { wsId?: string | undefined; riskLevel?: Level | undefined; limit: number } {
  const limit = Number(given);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw new UsageError(`--limit must be a number from 1 to ${MOST}, not "${given}".`);
  const riskLevel = levels.find((level) => level === risk);
  if (risk !== undefined && riskLevel === undefined)
    throw new UsageError(`--risk must be one of ${levels.join(', ')}, not "${risk}".`);
  return { wsId: workstream, riskLevel, limit };
}
