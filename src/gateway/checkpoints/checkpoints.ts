import { setImmediate as nextTurn } from 'node:timers/promises';
import { GatewayError } from '../../../protocol/errors.ts';
import type {
  ComparedCheckpoint,
  PreviewedChange,
  ShownCheckpoint,
} from '../../../protocol/methods/conversation/checkpoint.ts';
import type { Workdir } from '../../agent/tools/workdir.ts';
import type { CommittedFile } from '../../agent/workspace/workspace.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { dailyWhileSteady } from '../../timing/steady-time.ts';
import { whenIdle } from '../cuts/busy.ts';
import type { Store } from '../store/store.ts';
import { inHosted } from '../workers/elsewhere.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { CheckpointDeps } from './checkpoint-deps.ts';
import { type Checkpoint, readCheckpoints, toTrees } from './checkpoint-rows.ts';
import { discardFile } from './discards.ts';
import { type AlsoStored, type ChangedFiles, type ConflictChoices, FileChanges, type Wanted } from './file-changes.ts';
import { retain } from './retain.ts';
import { RunCheckpoints } from './run-checkpoints.ts';

/** How far to go; by default one run. */
export interface UndoTarget extends ConflictChoices {
  /** Back to before this run; or forward to after it. */
  runId?: string | undefined;
  /** Only this file, as the diff of the run names it. Its other files stay, and so does what a later undo does. */
  path?: string | undefined;
}

type Direction = Wanted['direction'];

/** What runs changed on disk, and how to take that back. */
export class Checkpoints {
  readonly #deps: CheckpointDeps;
  readonly #changes: FileChanges;
  /**
   * By workstream: contents are stored before the row that names them, and the daily clean-up removes what no row
   * names.
   */
  readonly #alone = createSerialKeys();
  readonly runs: RunCheckpoints;

  constructor(deps: CheckpointDeps) {
    this.#deps = deps;
    this.#changes = new FileChanges(deps);
    this.runs = new RunCheckpoints(deps, this.#alone);
  }

  get isOn(): boolean {
    return this.#deps.live.checkpoints.enabled;
  }

  /** Newest first. */
  async list(wsId: string): Promise<ShownCheckpoint[]> {
    return (await readCheckpoints(this.#deps.store, wsId)).toReversed().map(toShown);
  }

  /** What a run changed; by default the last one. `path`: only this file. */
  async compare(
    wsId: string,
    { runId, path }: { runId?: string | undefined; path?: string | undefined },
  ): Promise<ComparedCheckpoint> {
    const { store, files, clean } = this.#deps;
    const all = await readCheckpoints(store, wsId);
    const found = runId === undefined ? all.findLast(isEnded) : all.find((each) => each.runId === runId);
    if (!found) throw noSuch(runId);
    const { before, after, roots } = found;
    if (!after) throw inProgress();
    const trees = toTrees(before).map((tree, index): [string | undefined, string | undefined] => [
      after[index] === null ? undefined : tree,
      after[index] ?? undefined,
    ]);
    const paths = roots.map((root) => root.path);
    const compared = await files.do('compare', { wsId, paths, trees, only: path, maxBytes: MOST_DIFF_BYTES });
    const leftOut = await files.do('leftOut', {
      wsId,
      paths,
      limit: MOST_LEFT_OUT,
      trees: after.flatMap((tree) => tree ?? []),
    });
    return {
      checkpoint: toShown(found),
      files: compared.map(({ shown, root: _root, path: _path, diff, ...file }) => ({
        ...file,
        path: shown,
        ...(diff !== undefined && { diff: clean(diff) }),
      })),
      leftOut: leftOut.map(({ shown, reason }) => ({ path: shown, reason })),
    };
  }

  /** What an undo or redo would do now. Changes nothing. */
  async preview(
    workstream: Workstream,
    { direction, runId }: { direction: Direction; runId?: string | undefined },
  ): Promise<PreviewedChange> {
    return this.#whileIdle(workstream, async (data) => {
      const checkpoints = await this.#find(data.wsId, direction, runId);
      const wish = { onConflict: 'refuse', choices: [] } as const;
      const plan = await this.#changes.plan(data, { direction, checkpoints, wish });
      return {
        runIds: checkpoints.map((each) => each.runId),
        changes: plan.changes.map(({ shown: path, from, to }) => ({
          path,
          change: from === undefined ? 'added' : to === undefined ? 'deleted' : 'modified',
        })),
        conflicts: plan.conflicts.map(({ shown: path, reason }) => ({ path, reason })),
        missing: plan.missing,
      };
    });
  }

  /** Takes back what runs changed, or brings it back. Throws BUSY while a run is in progress, CONFLICT with the paths. */
  change(
    workstream: Workstream,
    { direction, runId, path, ...wish }: UndoTarget & { direction: Direction },
    also: AlsoStored = NOTHING_ELSE,
  ): Promise<ChangedFiles> {
    return this.#whileIdle(workstream, async (data) => {
      const checkpoints =
        path === undefined
          ? await this.#find(data.wsId, direction, runId)
          : [await this.#findWith(data.wsId, { runId, path })];
      try {
        return await this.#changes.make(data, { direction, checkpoints, wish, only: path }, also);
      } finally {
        workstream.context.forget();
      }
    });
  }

  /** Puts a file back to the last commit. `find` reads what that has, in the folders as they are now. */
  discard(
    workstream: Workstream,
    find: (workdir: Workdir) => Promise<CommittedFile>,
    also: AlsoStored,
  ): Promise<ChangedFiles> {
    return this.#whileIdle(workstream, async (data) => {
      const workdir = await this.#deps.workdirs.hold(data).check();
      const file = await find(workdir);
      try {
        return await discardFile(data, { ...file, workdir }, { deps: this.#deps, changes: this.#changes, also });
      } finally {
        workstream.context.forget();
      }
    });
  }

  /** Takes back what all runs after a message changed. Call it while no run can start. */
  takeBackAfter(data: WorkstreamData, afterSeq: number, wish: ConflictChoices): Promise<ChangedFiles> {
    return this.#prepared(data, async () => {
      const all = await readCheckpoints(this.#deps.store, data.wsId);
      const checkpoints = all.filter(({ state, atSeq }) => state === 'done' && atSeq > afterSeq).toReversed();
      if (checkpoints.length === 0) return { runIds: [], changed: [], kept: [], missing: [], failed: [] };
      return this.#changes.make(data, { direction: 'undo', checkpoints, wish }, NOTHING_ELSE);
    });
  }

  /** Goes on with what a crash interrupted. A folder that is not there now is tried again before the next change. */
  async recover(
    withData: (wsId: string, work: (data: WorkstreamData) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    for (const wsId of await this.#changes.unfinished()) {
      try {
        await withData(wsId, (data) => this.#alone.run(wsId, () => this.#changes.resume(data)));
      } catch (err) {
        this.#deps.log.warn({ err, wsId }, 'a change of files that a crash interrupted could not be completed yet');
      }
    }
  }

  /** Removes the contents of workstreams that are gone. Never rejects. */
  async sweep(): Promise<void> {
    const { store, files, log } = this.#deps;
    try {
      // In this order: what a workstream stores that is created meanwhile is not among them.
      const stored = await files.do('workstreams', {});
      const gone = await missingIn(store, stored);
      if (gone.length > 0) await files.do('drop', { wsIds: gone });
    } catch (err) {
      log.warn({ err }, 'snapshots of removed workstreams could not be removed');
    }
  }

  /** Removes old checkpoints daily, also where nothing runs any more. */
  run(signal: AbortSignal): Promise<void> {
    return dailyWhileSteady(this.#deps.clock, signal, async () => {
      await this.sweep();
      const { store } = this.#deps;
      const own = store.db.selectFrom('checkpoints').select('ws_id').where(inHosted(store));
      const rows = await own.distinct().execute();
      for (const { ws_id: wsId } of rows)
        await this.#alone
          .run(wsId, () => retain(wsId, this.#deps))
          .catch((err: unknown) => this.#deps.log.warn({ err, wsId }, 'old snapshots could not be removed'));
    });
  }

  #whileIdle<T>(workstream: Workstream, work: (data: WorkstreamData) => Promise<T>): Promise<T> {
    return whenIdle(workstream, 'files', (data) => this.#prepared(data, () => work(data)));
  }

  /** Does work after what was left unfinished before it. */
  #prepared<T>(data: WorkstreamData, work: () => Promise<T>): Promise<T> {
    return this.#alone.run(data.wsId, async () => {
      await this.#changes.resume(data);
      await this.runs.closeLeft(data.wsId, this.#deps.workdirs.hold(data));
      return work();
    });
  }

  /** A run that has ended and changed this file; by default the last one that did. */
  async #findWith(wsId: string, { runId, path }: { runId: string | undefined; path: string }): Promise<Checkpoint> {
    const ended = (await readCheckpoints(this.#deps.store, wsId)).filter(isEnded).toReversed();
    const possible = runId === undefined ? ended : ended.filter((each) => each.runId === runId);
    if (possible.length === 0) throw noSuch(runId);
    for (const checkpoint of possible) {
      const { files } = await this.compare(wsId, { runId: checkpoint.runId, path });
      if (files.length > 0) return checkpoint;
    }
    const whose = runId === undefined ? 'No run has changed this file' : 'The run has not changed this file';
    throw new GatewayError('NOT_FOUND', `${whose}: ${path}`);
  }

  async #find(wsId: string, direction: Direction, runId: string | undefined): Promise<Checkpoint[]> {
    const all = await readCheckpoints(this.#deps.store, wsId);
    const state = direction === 'undo' ? 'done' : 'undone';
    const possible = all.filter((each) => each.state === state);
    const ordered = direction === 'undo' ? possible.toReversed() : possible;
    if (ordered.length === 0) throw nothingTo(direction, this.isOn);
    if (runId === undefined) return ordered.slice(0, 1);
    const index = ordered.findIndex((each) => each.runId === runId);
    if (index < 0) throw noSuch(runId);
    return ordered.slice(0, index + 1);
  }
}

const NOTHING_ELSE: AlsoStored = { decided: () => [], failed: () => [] };
const MOST_DIFF_BYTES = 400_000;
const MOST_LEFT_OUT = 100;

const isEnded = ({ state }: Checkpoint): boolean => state !== 'open';

const toShown = ({
  runId,
  atSeq,
  state,
  beganMs,
  files,
  leftOut,
  none,
  roots,
  isDiscard,
}: Checkpoint): ShownCheckpoint => ({
  runId,
  afterSeq: atSeq,
  state,
  beganMs,
  files,
  leftOut,
  folders: roots.map(({ path }) => path),
  unavailable: none.map(({ path, reason }) => ({ path, reason })),
  ...(isDiscard && { discard: true }),
});

const inProgress = () =>
  new GatewayError('CONFLICT', 'The run is still in progress. Its changes are known at its end.', { retryable: true });

const noSuch = (runId: string | undefined) =>
  new GatewayError(
    'NOT_FOUND',
    runId === undefined ? 'No run of this workstream has changed files yet.' : `No such checkpoint: ${runId}`,
  );

function nothingTo(direction: Direction, isOn: boolean): GatewayError {
  const what = direction === 'undo' ? 'There is nothing to take back' : 'There is nothing to bring back';
  return new GatewayError(
    'NOT_FOUND',
    isOn ? `${what}.` : `${what}: checkpoints.enabled is false in the configuration.`,
  );
}

/** How many ids one query names. */
const AT_ONCE = 500;

/** Those of these workstreams that are not stored. */
async function missingIn({ db }: Pick<Store, 'db'>, wsIds: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (let at = 0; at < wsIds.length; at += AT_ONCE) {
    const asked = wsIds.slice(at, at + AT_ONCE);
    const rows = await db.selectFrom('workstreams').select('ws_id').where('ws_id', 'in', asked).execute();
    const there = new Set(rows.map(({ ws_id }) => ws_id));
    missing.push(...asked.filter((wsId) => !there.has(wsId)));
    await nextTurn(); // other work must not wait for all of them
  }
  return missing;
}
