import { GatewayError } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { ShownPlan } from '../../agent/checkpoints/checkpoint-work.ts';
import type { FileChange, FileStep, OnConflict } from '../../agent/checkpoints/plan-files.ts';
import { insertMessage } from '../runs/run-rows.ts';
import type { Statement } from '../store/store.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { failureOf, givenUp, messageOf, noteOf, type ToldChange } from './change-texts.ts';
import { type CheckpointDeps, limitsOf } from './checkpoint-deps.ts';
import { type Checkpoint, toTrees, updateCheckpoint } from './checkpoint-rows.ts';
import { deleteChange, findChange, insertChange, readChanging, type StoredChange } from './file-change-rows.ts';
import { areHeld, heldAgain } from './held-roots.ts';

/** What to do about files that somebody else has changed since. */
export interface ConflictChoices {
  onConflict: OnConflict;
  /** For single paths, as people see them. */
  choices: readonly { path: string; choice: 'keep' | 'overwrite' }[];
}

/** What a change did. */
export interface ChangedFiles {
  runIds: string[];
  changed: string[];
  kept: string[];
  missing: string[];
  /** What was not possible although it was decided. */
  failed: { path: string; why: string }[];
}

/** What is stored with a change. */
export interface AlsoStored {
  /** With the decision; nothing has failed yet. */
  decided(done: ChangedFiles): Statement[];
  /** With the end, if some files could not be changed. */
  failed(done: ChangedFiles): Statement[];
}

/** Whose files change, and how. */
export interface Wanted {
  direction: 'undo' | 'redo';
  /** In the order in which they change. */
  checkpoints: readonly Checkpoint[];
  wish: ConflictChoices;
  /** Only this file of one run, whose state stays as it is. */
  only?: string | undefined;
}

/** A change that only has to be stored and made. */
export interface DecidedChange {
  told: ToldChange;
  done: ChangedFiles;
  roots: Checkpoint['roots'];
  changes: readonly FileChange[];
  /** What becomes of checkpoints. */
  statements: readonly Statement[];
}

/** Plans and makes changes of files between snapshots. Call it only while no run can start. */
export class FileChanges {
  readonly #deps: CheckpointDeps;

  constructor(deps: CheckpointDeps) {
    this.#deps = deps;
  }

  /** Changes nothing. Throws CONFLICT if a folder is not the one that the runs changed. */
  async plan(data: WorkstreamData, { direction, checkpoints, wish, only }: Wanted): Promise<ShownPlan> {
    const { files, workdirs, live } = this.#deps;
    const identities = rootsOfAll(checkpoints);
    const roots = heldAgain(identities, await workdirs.hold(data).check());
    return files.do('plan', {
      wsId: data.wsId,
      roots,
      steps: checkpoints.map((checkpoint) => toStep(checkpoint, direction, identities)),
      choices: [...wish.choices],
      others: wish.onConflict,
      only,
      maxFileBytes: limitsOf(live.checkpoints).maxFileBytes,
    });
  }

  /**
   * Decides the change and makes it. The decision is stored with the message for the model and `also`; a crash before it
   * changes nothing, and after a later one the next start goes on. People are told once it is made. Throws CONFLICT with the paths.
   */
  async make(data: WorkstreamData, wanted: Wanted, also: AlsoStored): Promise<ChangedFiles> {
    const { store } = this.#deps;
    await this.resume(data);
    const plan = await this.plan(data, wanted);
    if (plan.conflicts.length > 0) throw conflicting(plan.conflicts, wanted.only !== undefined);
    const { direction, checkpoints, only } = wanted;
    const done = toDone(checkpoints, plan);
    if (only !== undefined && plan.changes.length === 0) {
      await store.commit({ statements: also.decided(done), durable: true });
      return done;
    }
    const changed = only === undefined ? checkpoints : [];
    const decided: DecidedChange = {
      told: { direction, of: kindOf(checkpoints, only), runs: checkpoints.length, ...done },
      done,
      roots: rootsOfAll(checkpoints),
      changes: plan.changes.map(({ shown: _, ...change }) => change),
      statements: changed.map((checkpoint, index) => updateCheckpoint(toggled(checkpoint, plan.overwritten[index]))),
    };
    return this.carryOut(data, decided, also);
  }

  /** Stores a decided change with the message for the model and `also`, and makes it. */
  async carryOut(
    data: WorkstreamData,
    { told, done, roots, changes, statements }: DecidedChange,
    also: AlsoStored,
  ): Promise<ChangedFiles> {
    const { store, clock, ids } = this.#deps;
    const { wsId } = data;
    const change: StoredChange = { changeId: ids.id('chg'), roots, changes, note: noteOf(told) };
    await store.commit({
      statements: [
        insertChange(wsId, change),
        ...statements,
        ...insertMessage({ wsId, runId: null, nowMs: clock.now() }, messageOf(told)),
        ...also.decided(done),
      ],
      durable: true,
    });
    data.messageCount += 1;
    let whole = done;
    await this.#apply(data, change, (failed) => {
      const isMade = (path: string) => !failed.some((each) => each.path === path);
      whole = { ...done, changed: done.changed.filter(isMade), failed };
      return also.failed(whole);
    });
    return whole;
  }

  /**
   * Goes on with a change that a crash interrupted, or gives it up if its folders were exchanged, because no other could be
   * made after it. Throws while they are away.
   */
  async resume(data: WorkstreamData): Promise<void> {
    const left = await findChange(this.#deps.store, data.wsId);
    if (left === undefined) return;
    const isThere = areHeld(left.roots, await this.#deps.workdirs.hold(data).check());
    await (isThere ? this.#apply(data, left) : this.#giveUp(data, left));
  }

  async #giveUp(data: WorkstreamData, { roots }: StoredChange): Promise<void> {
    const { store, clock } = this.#deps;
    const { wsId } = data;
    const { note, message } = givenUp(roots.map(({ path }) => path));
    await store.commit({
      statements: [deleteChange(wsId), ...insertMessage({ wsId, runId: null, nowMs: clock.now() }, message)],
      events: { wsId, events: infoOf(note) },
    });
    data.messageCount += 1;
  }

  /** The workstreams in which `resume` has something to do. */
  unfinished(): Promise<string[]> {
    return readChanging(this.#deps.store);
  }

  async #apply(
    data: WorkstreamData,
    { changeId, roots, changes, note }: StoredChange,
    onFailed: (failed: ChangedFiles['failed']) => Statement[] = () => [],
  ): Promise<void> {
    const { store, files, workdirs, live, clock } = this.#deps;
    const { wsId } = data;
    const held = heldAgain(roots, await workdirs.hold(data).check());
    const { maxFileBytes } = limitsOf(live.checkpoints);
    const failed = await files.do('apply', { wsId, roots: held, changes: [...changes], id: changeId, maxFileBytes });
    const made = infoOf(note);
    if (failed.length === 0) {
      await store.commit({ statements: [deleteChange(wsId)], events: { wsId, events: made } });
      return;
    }
    const { note: whatFailed, message } = failureOf(failed);
    await store.commit({
      statements: [
        deleteChange(wsId),
        ...insertMessage({ wsId, runId: null, nowMs: clock.now() }, message),
        ...onFailed(failed.map(({ shown: path, why }) => ({ path, why }))),
      ],
      events: { wsId, events: [...made, ...infoOf(whatFailed)] },
    });
    data.messageCount += 1;
  }
}

function kindOf(checkpoints: readonly Checkpoint[], only: string | undefined): ToldChange['of'] {
  if (checkpoints.every(({ isDiscard }) => isDiscard)) return 'discard';
  return only === undefined ? 'runs' : 'file';
}

const infoOf = (message: string | undefined): StreamEvent[] =>
  message === undefined ? [] : [{ type: 'info', message }];

/** The roots of all checkpoints, each once; the working directory is the first. */
function rootsOfAll(checkpoints: readonly Checkpoint[]) {
  const roots = new Map(
    checkpoints.flatMap((each) => each.roots).map((root) => [`${root.ino} ${root.path}`, root] as const),
  );
  return [...roots.values()];
}

function toStep(
  { roots, before, after = before, overwritten = [], isLate }: Checkpoint,
  direction: 'undo' | 'redo',
  all: Checkpoint['roots'],
): FileStep {
  const indexOf = all.map(({ path, ino }) => roots.findIndex((root) => root.path === path && root.ino === ino));
  const aligned = (trees: readonly (string | null)[]) => toTrees(indexOf.map((index) => trees[index] ?? null));
  const [old, left] = [aligned(before), aligned(after)];
  if (direction === 'undo') return { from: left, to: old, isLate: isLate === true };
  const instead = overwritten.map((each) => ({ ...each, root: indexOf.indexOf(each.root) }));
  return { from: old, to: left, instead };
}

const toDone = (checkpoints: readonly Checkpoint[], { changes, kept, missing }: ShownPlan): ChangedFiles => ({
  runIds: checkpoints.map(({ runId }) => runId),
  changed: changes.map(({ shown }) => shown),
  kept,
  missing,
  failed: [],
});

function toggled(checkpoint: Checkpoint, overwritten: ShownPlan['overwritten'][number] = []): Checkpoint {
  const { overwritten: _, ...rest } = checkpoint;
  if (checkpoint.state === 'undone') return { ...rest, state: 'done' };
  return { ...rest, state: 'undone', ...(overwritten.length > 0 && { overwritten }) };
}

function conflicting(conflicts: ShownPlan['conflicts'], isSingle: boolean): GatewayError {
  const paths = conflicts.map(({ shown }) => shown);
  const some = paths.length > 10 ? `${paths.slice(0, 10).join(', ')} and ${paths.length - 10} more` : paths.join(', ');
  const are = conflicts.every(({ reason }) => reason === 'unknown') ? 'may not be' : 'are not';
  return new GatewayError(
    'CONFLICT',
    `Nothing was changed, because these files ${are} as the run left them: ${some}.${isSingle ? '' : ' Choose for them: keep or overwrite.'}`,
    { details: { conflicts: conflicts.map(({ shown: path, reason }) => ({ path, reason })) } },
  );
}
