import type { Result } from '../../../../protocol/index.ts';
import type { AuditEvent } from '../../../../protocol/methods/accounts/audit.ts';
import { EXIT } from '../../../exit-codes.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';
import { readUserNames } from './user-names.ts';

export interface AuditFlags extends TargetFlags {
  action?: string;
  user?: string;
  limit: string;
  json?: boolean;
}

interface AuditCommand<F> {
  flags: F;
  around: Surroundings;
  root: URL;
}

/** Prints who did what, newest first. */
export async function listAudit({ flags, around, root }: AuditCommand<AuditFlags>): Promise<void> {
  const { action, user: userId, json } = flags;
  const limit = Number(flags.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new UsageError(`--limit must be a number from 1 to 200, not "${flags.limit}".`);
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  const { events, total, nameOf } = await withClient(caller, async (client) => {
    const listed = await client.call('audit.list', { action, userId, limit });
    const actors = json ? [] : listed.events.flatMap(({ userId: actor, resourceId }) => [actor, resourceId]);
    return { ...listed, nameOf: await readUserNames(client, actors) };
  });
  if (json) process.stdout.write(`${JSON.stringify({ events, total }, null, 2)}\n`);
  else if (events.length === 0) process.stderr.write('Nothing is recorded that fits.\n');
  else process.stdout.write(toTable(events, nameOf));
  if (!json && total > events.length) process.stderr.write(`${total - events.length} more; see --limit.\n`);
}

/** Checks the trail; names the first broken record and exits with 1. */
export async function verifyAudit({ flags, around, root }: AuditCommand<TargetFlags>): Promise<void> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  const verdict = await withClient(caller, (client) => client.call('audit.verify', {}));
  process.stdout.write(`${toVerdictText(verdict)}\n`);
  if (!verdict.ok) process.exitCode = EXIT.failed;
}

const RECORD = {
  changed: 'was changed',
  missing: 'is missing',
  truncated: 'and those after it are missing',
  signature: 'does not fit its signature',
};
const HEAD = {
  missing: 'is missing. The daemon never deletes it, so something else did',
  older: 'is an older version of itself. The daemon never takes it back, so something else did',
};

function toVerdictText({ ok, checked, brokenAt, problem, head, signedSeq }: Result<'audit.verify'>): string {
  if (ok) return `All ${checked} records are as they were written.`;
  const sentences: string[] = [];
  if (head !== undefined) sentences.push(`Not verified: the file with the signature, audit-head.json, ${HEAD[head]}.`);
  if (problem === 'signature') sentences.push('The signature of the last record is wrong.');
  else if (brokenAt !== undefined) sentences.push(`Record ${brokenAt} ${RECORD[problem ?? 'changed']}.`);
  sentences.push(
    brokenAt === undefined && problem !== 'signature'
      ? `${checked} records are chained as they were written.`
      : `${checked} records before it are as they were written.`,
  );
  if (signedSeq !== undefined) sentences.push(`The last record known to be signed has the number ${signedSeq}.`);
  return sentences.join(' ');
}

const toSecond = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

const toTable = (events: readonly AuditEvent[], nameOf: (actor: string) => string): string =>
  toTextTable([
    ['TIME (UTC)', 'WHO', 'ACTION', 'ON', 'OUTCOME', 'FROM', 'DETAIL'],
    ...events.map(({ atMs, username, userId, action, resourceId, outcome, ipAddress, detail }) => [
      toSecond(atMs),
      toSafeText(username || nameOf(userId) || '–'),
      action,
      toSafeText(nameOf(resourceId)) || '–',
      outcome,
      ipAddress,
      detail === '{}' ? '' : toSafeText(detail),
    ]),
  ]);
