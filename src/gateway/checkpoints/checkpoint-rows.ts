import { isRecord } from '../../../protocol/is-record.ts';
import type { ShownPlan } from '../../agent/checkpoints/checkpoint-work.ts';
import type { NoSnapshot } from '../../agent/checkpoints/snapshot.ts';
import type { FolderIdentity } from '../../agent/tools/files/held-folder.ts';
import type { CheckpointTable } from '../store/schema/files/checkpoint-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { storedReader } from '../store/stored-value.ts';

/** The snapshots around a run. */
export interface CheckpointBody {
  roots: readonly FolderIdentity[];
  /** A tree per root; null: there is none. */
  before: readonly (string | null)[];
  /** The same after the run; absent while it is in progress. */
  after?: readonly (string | null)[];
  /** How many files the run changed. */
  files: number;
  /** How many files the snapshots do not hold. */
  leftOut: number;
  /** The roots without a snapshot, and why. */
  none: readonly { path: string; reason: NoSnapshot }[];
  /** What an undo overwrote although the run had not left it there; a redo puts it back. */
  overwritten?: ShownPlan['overwritten'][number];
  /** The snapshot after the run was taken later, so it also has what others changed in between. */
  isLate?: true;
  /** It is no run: a person put a file back to the last commit. */
  isDiscard?: true;
}

/** A checkpoint: what one run changed on disk. */
export interface Checkpoint extends CheckpointBody {
  wsId: string;
  n: number;
  runId: string;
  atSeq: number;
  state: CheckpointTable['state'];
  beganMs: number;
}

const isBody = (value: unknown): value is CheckpointBody =>
  isRecord(value) && Array.isArray(value.roots) && Array.isArray(value.before) && Array.isArray(value.none);

/** Oldest first. A damaged one is left out and reported. */
export async function readCheckpoints(store: Pick<Store, 'db' | 'reportDamage'>, wsId: string): Promise<Checkpoint[]> {
  const read = storedReader(store);
  const rows = await store.db.selectFrom('checkpoints').selectAll().where('ws_id', '=', wsId).orderBy('n').execute();
  return rows.flatMap(({ n, run_id: runId, at_seq: atSeq, state, body_json: json, began_ms: beganMs }) => {
    const body = read(json, `checkpoint ${n} of workstream ${wsId}`, isBody);
    return body ? [{ ...body, wsId, n, runId, atSeq, state, beganMs }] : [];
  });
}

export const insertCheckpoint = (checkpoint: Checkpoint): Statement =>
  statementOf(build.insertInto('checkpoints').values(toRow(checkpoint)), 1);

export const updateCheckpoint = (checkpoint: Checkpoint): Statement => {
  const { state, body_json } = toRow(checkpoint);
  const change = build.updateTable('checkpoints').set({ state, body_json });
  return statementOf(change.where('ws_id', '=', checkpoint.wsId).where('n', '=', checkpoint.n), 1);
};

export const deleteCheckpoints = (wsId: string, numbers: readonly number[]): Statement[] =>
  numbers.length === 0
    ? []
    : [
        statementOf(
          build
            .deleteFrom('checkpoints')
            .where('ws_id', '=', wsId)
            .where('n', 'in', [...numbers]),
        ),
      ];

function toRow({ wsId, n, runId, atSeq, state, beganMs, ...body }: Checkpoint): CheckpointTable {
  return { ws_id: wsId, n, run_id: runId, at_seq: atSeq, state, body_json: JSON.stringify(body), began_ms: beganMs };
}

/** As the trees of a comparison. */
export const toTrees = (trees: readonly (string | null)[]): (string | undefined)[] =>
  trees.map((tree) => tree ?? undefined);
