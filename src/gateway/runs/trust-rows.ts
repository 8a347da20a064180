import type { InstructionTrust } from '../../agent/prefix/surroundings.ts';
import type { Step } from '../../agent/run/recorder.ts';
import type { Statement, Store } from '../store/store.ts';

/** Stores a decision about the instruction files of folders. */
export const storeTrust = (
  wsId: string,
  { folders, isTrusted }: NonNullable<Step['trust']>,
  nowMs: number,
): Statement[] =>
  folders.map((folder) => ({
    sql: `INSERT INTO instruction_trust (ws_id, folder, trusted, decided_ms) VALUES (?, ?, ?, ?)
          ON CONFLICT (ws_id, folder) DO UPDATE SET trusted = excluded.trusted, decided_ms = excluded.decided_ms`,
    parameters: [wsId, folder, isTrusted ? 1 : 0, nowMs],
    expect: 1,
  }));

export async function readTrust({ db }: Pick<Store, 'db'>, wsId: string): Promise<InstructionTrust> {
  const rows = await db
    .selectFrom('instruction_trust')
    .select(['folder', 'trusted'])
    .where('ws_id', '=', wsId)
    .execute();
  const decided = (trusted: 0 | 1) => rows.filter((row) => row.trusted === trusted).map(({ folder }) => folder);
  return { trusted: decided(1), declined: decided(0) };
}
