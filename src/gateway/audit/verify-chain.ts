import type { Result } from '../../../protocol/index.ts';
import { auditDigest } from '../store/audit-digest.ts';
import type { AuditTable } from '../store/schema/user-schema.ts';
import type { Store } from '../store/store.ts';
import type { AuditHead } from './audit-head.ts';
import { isConsistent, readRecord } from './audit-record.ts';

/** As many as are checked in a few milliseconds. */
const PAGE = 100;

/** What the records themselves show. */
type ChainVerdict = Pick<Result<'audit.verify'>, 'ok' | 'checked' | 'brokenAt' | 'problem'>;

/** Checks the records in pages, from the first one that is kept up to the signed one and what came after it. */
export async function verifyChain(db: Store['db'], head: AuditHead): Promise<ChainVerdict> {
  let last: Link = { seq: head.firstSeq - 1, digest: head.before };
  let checked = 0;
  for (;;) {
    const rows = await readPage(db, last.seq);
    for (const row of rows) {
      const problem = problemOf(row, last, head);
      if (problem !== undefined) return { ok: false, checked, brokenAt: last.seq + 1, problem };
      checked += 1;
      last = row;
    }
    if (rows.length < PAGE) break;
    await new Promise(setImmediate);
  }
  return last.seq < head.seq
    ? { ok: false, checked, brokenAt: last.seq + 1, problem: 'truncated' }
    : { ok: true, checked };
}

/** The head of a trail without records. */
export const NOTHING_SIGNED: AuditHead = { firstSeq: 1, before: '', seq: 0, digest: '' };

type Link = Pick<AuditTable, 'seq' | 'digest'>;

const readPage = (db: Store['db'], after: number): Promise<AuditTable[]> =>
  db.selectFrom('audit').selectAll().where('seq', '>', after).orderBy('seq').limit(PAGE).execute();

function problemOf(row: AuditTable, last: Link, head: AuditHead): 'changed' | 'missing' | undefined {
  if (row.seq !== last.seq + 1) return 'missing';
  const isChained = row.digest === auditDigest(last.digest, row.seq, row.body_json);
  const isSigned = row.seq !== head.seq || row.digest === head.digest;
  return isChained && isSigned && isConsistent(row, readRecord(row.body_json)) ? undefined : 'changed';
}
