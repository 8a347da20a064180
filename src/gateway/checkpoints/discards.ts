import { GatewayError } from '../../../protocol/errors.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import type { KeptFile } from '../../agent/checkpoints/keep-file.ts';
import type { Workdir } from '../../agent/tools/workdir.ts';
import type { CommittedFile } from '../../agent/workspace/workspace.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { type CheckpointDeps, limitsOf } from './checkpoint-deps.ts';
import { type Checkpoint, insertCheckpoint, readCheckpoints } from './checkpoint-rows.ts';
import type { AlsoStored, ChangedFiles, FileChanges } from './file-changes.ts';
import { toSnapshotRoot } from './held-roots.ts';
import { retain } from './retain.ts';

/**
 * Puts a file back to what the last commit has. What it was before is kept as a checkpoint of its own, so that an undo
 * brings it back. Call it only while no run can start. Throws CONFLICT if it is not what the person saw.
 */
export async function discardFile(
  data: WorkstreamData,
  file: CommittedFile & { workdir: Workdir },
  { deps, changes, also }: { deps: CheckpointDeps; changes: FileChanges; also: AlsoStored },
): Promise<ChangedFiles> {
  const { store, files, live } = deps;
  const { wsId } = data;
  const { root, shown, seen, wanted, workdir } = file;
  // The first root is the working directory: the paths in it are shown without it.
  const roots = root === workdir.folder ? [root] : [workdir.folder, root];
  const at = { root: roots.length - 1, path: file.path };
  const limits = limitsOf(live.checkpoints);
  const kept = await files.do('keep', { wsId, root: toSnapshotRoot(root), at, seen, wanted, limits });
  if (kept.kind === 'refused') throw refusal(kept.reason, shown);
  if (kept.kind === 'same') {
    const done: ChangedFiles = { ...NOTHING, runIds: [] };
    await store.commit({ statements: also.decided(done), durable: true });
    return done;
  }
  const checkpoint = await toCheckpoint(data, { deps, kept, roots });
  const done: ChangedFiles = { ...NOTHING, runIds: [checkpoint.runId], changed: [shown] };
  const whole = await changes.carryOut(
    data,
    {
      told: { direction: 'redo', of: 'discard', runs: 1, ...done },
      done,
      roots: checkpoint.roots,
      changes: [kept.change],
      statements: [insertCheckpoint(checkpoint)],
    },
    also,
  );
  await retain(wsId, deps);
  return whole;
}

const NOTHING = { changed: [], kept: [], missing: [], failed: [] };

async function toCheckpoint(
  { wsId, messageCount: atSeq }: WorkstreamData,
  {
    deps: { store, clock, ids },
    kept,
    roots,
  }: { deps: CheckpointDeps; kept: Extract<KeptFile, { kind: 'kept' }>; roots: CommittedFile['root'][] },
): Promise<Checkpoint> {
  const last = (await readCheckpoints(store, wsId)).at(-1);
  const only = (tree: string) => roots.map((_, index) => (index === roots.length - 1 ? tree : null));
  return {
    wsId,
    n: (last?.n ?? 0) + 1,
    runId: ids.id('discard'),
    atSeq,
    state: 'done',
    beganMs: clock.now(),
    roots: roots.map(({ path, ino }) => ({ path, ino })),
    before: only(kept.before),
    after: only(kept.after),
    files: 1,
    leftOut: 0,
    none: [],
    isDiscard: true,
  };
}

const REASONS = {
  changed: 'has changed since you looked at it',
  size: 'is too large to be kept, so nothing could bring it back (checkpoints.maxFileMb)',
  total: 'cannot be kept, because the space for snapshots is used up (checkpoints.maxTotalMb)',
} as const;

const refusal = (reason: keyof typeof REASONS, shown: string): GatewayError =>
  new GatewayError('CONFLICT', `${toVisibleLine(shown)} ${REASONS[reason]}. Nothing was changed.`);
