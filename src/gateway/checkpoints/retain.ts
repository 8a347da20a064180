import type { CheckpointDeps } from './checkpoint-deps.ts';
import { type Checkpoint, deleteCheckpoints, readCheckpoints } from './checkpoint-rows.ts';

const DAY_MS = 86_400_000;
const MB = 1024 * 1024;

/**
 * Removes the oldest checkpoints of a workstream: those over the limits of number and age, and more while what they store
 * takes more than three quarters of the space, so that there is some for the next.
 */
export async function retain(
  wsId: string,
  deps: Pick<CheckpointDeps, 'store' | 'files' | 'live' | 'clock'>,
): Promise<void> {
  const { store, files, live, clock } = deps;
  const { keep, keepDays, maxTotalMb } = live.checkpoints;
  const oldestMs = clock.now() - keepDays * DAY_MS;
  let kept = await readCheckpoints(store, wsId);
  const isOver = (all: readonly Checkpoint[]) => all.length > keep || (all[0]?.beganMs ?? oldestMs) < oldestMs;
  const drop = async (): Promise<void> => {
    const [oldest, ...rest] = kept;
    if (oldest) await store.commit({ statements: deleteCheckpoints(wsId, [oldest.n]) });
    kept = rest;
  };
  let isDropped = false;
  for (; kept.length > 0 && kept[0]?.state !== 'open' && isOver(kept); isDropped = true) await drop();
  const most = maxTotalMb * MB * 0.75;
  const isFull = (await files.do('bytes', { wsId })) > most;
  const isOverFull = async () => (await files.do('used', { wsId, ...usedBy(kept) })) > most;
  while (isFull && kept.length > 1 && kept[0]?.state !== 'open' && (await isOverFull())) await drop();
  // What was dropped a while ago may still lie on disk.
  if (isDropped || isFull) await files.do('keepOnly', { wsId, ...usedBy(kept), isTight: isFull });
}

/** What checkpoints need: their trees, and the contents that an undo overwrote. */
const usedBy = (checkpoints: readonly Checkpoint[]): { trees: string[]; objects: string[] } => ({
  trees: checkpoints.flatMap(({ before, after = [] }) => [...before, ...after].flatMap((tree) => tree ?? [])),
  objects: checkpoints.flatMap(({ overwritten = [] }) =>
    overwritten.flatMap(({ entry }) => (entry?.kind === 'file' ? entry.hash : [])),
  ),
});
