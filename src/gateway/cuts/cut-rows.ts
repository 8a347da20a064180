import { cutChecksum, DamagedRow } from '../store/row-checksum.ts';
import type { CutTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import type { Cut } from './cut.ts';

/** All cuts of a workstream, in their order. `damage` is set when one of them is missing or altered; the others count. */
export async function readCuts(
  { db, reportDamage }: Pick<Store, 'db' | 'reportDamage'>,
  wsId: string,
): Promise<{ cuts: Cut[]; damage?: DamagedRow }> {
  const rows = await db.selectFrom('cuts').selectAll().where('ws_id', '=', wsId).orderBy('n').execute();
  const cuts = rows.flatMap((row) => toCut(row) ?? []);
  if (cuts.every(({ n }, index) => n === index + 1) && cuts.length === rows.length) return { cuts };
  const damage = new DamagedRow(`a cut of workstream ${wsId} is missing or altered`);
  reportDamage(damage);
  return { cuts, damage };
}

/** Refused when another cut has the number. */
export function insertCut(wsId: string, { n, kind, afterSeq, toSeq, atSeq, summary, createdMs }: Cut): Statement {
  const row = {
    ws_id: wsId,
    n,
    kind,
    after_seq: afterSeq,
    to_seq: toSeq,
    at_seq: atSeq,
    body_json: summary === undefined ? null : JSON.stringify(summary),
    created_ms: createdMs,
  };
  return statementOf(build.insertInto('cuts').values({ ...row, checksum: cutChecksum(row) }), 1);
}

function toCut({ checksum, ...row }: CutTable): Cut | undefined {
  if (checksum !== cutChecksum(row)) return undefined;
  const { n, kind, after_seq: afterSeq, to_seq: toSeq, at_seq: atSeq, body_json: body, created_ms: createdMs } = row;
  return { n, kind, afterSeq, toSeq, atSeq, createdMs, ...(body !== null && { summary: JSON.parse(body) }) };
}
