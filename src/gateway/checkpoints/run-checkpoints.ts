import { wordsOf } from '../../../protocol/words-of.ts';
import type { Snapshot } from '../../agent/checkpoints/snapshot.ts';
import type { RunCheckpoint } from '../../agent/run/run-context.ts';
import type { WorkdirSource } from '../../agent/tools/workdir.ts';
import { OnceKeys } from '../../timing/once-keys.ts';
import type { SerialKeys } from '../../timing/serial-keys.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { type CheckpointDeps, limitsOf } from './checkpoint-deps.ts';
import {
  type Checkpoint,
  deleteCheckpoints,
  insertCheckpoint,
  readCheckpoints,
  toTrees,
  updateCheckpoint,
} from './checkpoint-rows.ts';
import { areHeld, heldAgain, rootsOf, toSnapshotRoot } from './held-roots.ts';
import { retain } from './retain.ts';

/** Takes the snapshots around runs. */
export class RunCheckpoints {
  readonly #deps: CheckpointDeps;
  /** By workstream, for whatever stores contents or removes them. */
  readonly #alone: SerialKeys;
  /** What was last said about each workstream, so that it is not said again with each run. */
  readonly #told = new Map<string, string>();
  readonly #taking = new OnceKeys<Checkpoint | undefined>();

  constructor(deps: CheckpointDeps, alone: SerialKeys) {
    this.#deps = deps;
    this.#alone = alone;
  }

  /** For a run in progress, perhaps after a restart. */
  of(runId: string, data: WorkstreamData, workdir: WorkdirSource): RunCheckpoint {
    let begun: Promise<Checkpoint | undefined> | undefined;
    return {
      before: async () => {
        begun ??= this.#taking.run(runId, () => this.#alone.run(data.wsId, () => this.#before(runId, data, workdir)));
        await begun;
      },
      ended: async () => {
        try {
          const open = await (begun ?? this.#openOf(runId, data.wsId));
          if (open) await this.#alone.run(data.wsId, () => this.#close(open, workdir));
        } catch (err) {
          this.#deps.log.warn({ err, runId, wsId: data.wsId }, 'the changes of a run could not be recorded yet');
        }
      },
    };
  }

  /**
   * Closes the checkpoint of a run that is over, but could not be closed at its end. It cannot tell the changes of the run from
   * later ones. One that can never be closed is forgotten, because no other could be taken after it. Call it only while no run is in progress, and alone in the workstream.
   */
  async closeLeft(wsId: string, workdir: WorkdirSource): Promise<void> {
    for (const checkpoint of await readCheckpoints(this.#deps.store, wsId)) {
      if (checkpoint.state !== 'open') continue;
      if (await this.#isClosable(checkpoint, workdir)) await this.#close({ ...checkpoint, isLate: true }, workdir);
      else await this.#giveUp(checkpoint);
    }
  }

  /** Not if its folders were exchanged, or its snapshots are those of another machine. */
  async #isClosable({ wsId, roots, before }: Checkpoint, workdir: WorkdirSource): Promise<boolean> {
    if (!areHeld(roots, await workdir.check())) return false;
    return this.#deps.files.do('holds', { wsId, trees: before.flatMap((tree) => tree ?? []) });
  }

  async #giveUp(checkpoint: Checkpoint): Promise<void> {
    const { runId, wsId } = checkpoint;
    this.#deps.log.warn({ runId, wsId }, 'what a run changed cannot be taken back: its folders or snapshots are gone');
    await this.#forget(checkpoint);
  }

  /** Undefined if there is none, and people were told why. Never rejects: a run goes on without. */
  async #before(runId: string, data: WorkstreamData, workdir: WorkdirSource): Promise<Checkpoint | undefined> {
    const { live, log } = this.#deps;
    if (!live.checkpoints.enabled) return undefined;
    try {
      const known = await this.#openOf(runId, data.wsId);
      return known ?? (await this.#take(runId, data, workdir));
    } catch (err) {
      log.warn({ err, runId, wsId: data.wsId }, 'no snapshot could be taken before a run changes files');
      await this.#tell(data.wsId, `no snapshot could be taken (${wordsOf(err)})`);
      return undefined;
    }
  }

  async #openOf(runId: string, wsId: string): Promise<Checkpoint | undefined> {
    const all = await readCheckpoints(this.#deps.store, wsId);
    return all.find((checkpoint) => checkpoint.runId === runId && checkpoint.state === 'open');
  }

  async #take(runId: string, { wsId, messageCount: atSeq }: WorkstreamData, workdir: WorkdirSource) {
    const { store, files, live, clock } = this.#deps;
    await this.closeLeft(wsId, workdir);
    const roots = rootsOf(await workdir.check());
    const snapshots = await files.do('snapshot', {
      wsId,
      roots: roots.map(toSnapshotRoot),
      limits: limitsOf(live.checkpoints),
    });
    const none = snapshots.flatMap((snapshot, index) =>
      snapshot.kind === 'none' ? [{ path: roots[index]?.path ?? '', reason: snapshot.reason }] : [],
    );
    const last = (await readCheckpoints(store, wsId)).at(-1);
    const checkpoint: Checkpoint = {
      wsId,
      n: (last?.n ?? 0) + 1,
      runId,
      atSeq,
      state: 'open',
      beganMs: clock.now(),
      roots: roots.map(({ path, ino }) => ({ path, ino })),
      before: snapshots.map(treeOf),
      files: 0,
      leftOut: snapshots.reduce((sum, snapshot) => sum + (snapshot.kind === 'taken' ? snapshot.leftOut : 0), 0),
      none,
    };
    await store.commit({ statements: [insertCheckpoint(checkpoint)], durable: true });
    if (none.length > 0) await this.#tell(wsId, none.map(({ path, reason }) => `${path} ${NONE[reason]}`).join('; '));
    else this.#told.delete(wsId);
    return checkpoint;
  }

  async #close(checkpoint: Checkpoint, workdir: WorkdirSource): Promise<void> {
    const { store, files, live } = this.#deps;
    const { wsId, before } = checkpoint;
    const roots = heldAgain(checkpoint.roots, await workdir.check());
    const bases = toTrees(before);
    const snapshots = await files.do('snapshot', { wsId, roots, limits: limitsOf(live.checkpoints), bases });
    const after = snapshots.map(treeOf).map((tree, index) => (before[index] === null ? null : tree));
    const trees = after.map((tree, index): [string | undefined, string | undefined] =>
      tree === null ? [undefined, undefined] : [bases[index], tree],
    );
    const changed = await files.do('count', { wsId, trees });
    const all = await readCheckpoints(store, wsId);
    if (changed === 0) return this.#forget(checkpoint);
    // Whatever was taken back cannot be brought back over what this run did.
    const undone = all.flatMap(({ n, state }) => (state === 'undone' ? n : []));
    const done: Checkpoint = { ...checkpoint, state: 'done', after, files: changed };
    await store.commit({ statements: [updateCheckpoint(done), ...deleteCheckpoints(wsId, undone)] });
    await retain(wsId, this.#deps);
  }

  async #forget({ wsId, n }: Checkpoint): Promise<void> {
    await this.#deps.store.commit({ statements: deleteCheckpoints(wsId, [n]) });
  }

  async #tell(wsId: string, why: string): Promise<void> {
    if (this.#told.get(wsId) === why) return;
    this.#told.set(wsId, why);
    const message = `/undo cannot take back what this run does: ${why}.`;
    await this.#deps.store
      .commit({ events: { wsId, events: [{ type: 'info', message }] } })
      .catch((err: unknown) => this.#deps.log.warn({ err, wsId }, 'a note about a missing snapshot was not stored'));
  }
}

const NONE = {
  files: 'has more than 50 000 files',
  time: 'takes longer than 20 s to read',
} as const;

const treeOf = (snapshot: Snapshot): string | null => (snapshot.kind === 'taken' ? snapshot.tree : null);
