import { GatewayError } from '../../../protocol/errors.ts';
import { OnceKeys } from '../../timing/once-keys.ts';
import { endBackgroundIn } from '../background/background-records.ts';
import { endTrustOf } from '../coordinators/send-trust-rows.ts';
import { requirePermission } from '../required-rights.ts';
import { endRulesOf } from '../rules/rule-rows.ts';
import type { AdoptedRun, RunHandle } from '../runs/run-record.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import { DAEMON, mayPerceive, newlyOwned, type Viewer } from '../sharing/perception.ts';
import { hideDeleted, removeRows } from '../store/deletion.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import type { Statement } from '../store/store.ts';
import { readAgain } from '../workers/moving/read-again.ts';
import { toAlwaysColumns } from './always.ts';
import { idleLongest, NoRoom, thinOut, type Unloading } from './closing.ts';
import { afterUnload, type Giving, handOver, Leaving, putAway } from './leaving.ts';
import { type CreateOptions, nameNewSession, prepareNew, requireOpening } from './new-workstream.ts';
import { kindOfKey, noSession, openByKey, unknownWorkstream } from './session-keys.ts';
import { Workstream } from './workstream.ts';
import { createWorkstreamData, type WorkstreamData } from './workstream-data.ts';
import type { RegistryDeps, RestoreRun } from './workstream-deps.ts';
import {
  insertWorkstream,
  markGone,
  openStored,
  readById,
  readByKey,
  readByName,
  readOpen,
  requireUnusedId,
  toCreateError,
  toTold,
} from './workstream-rows.ts';

/**
 * The loaded workstreams, and access to stored ones. Everything that finds one names who asks: to them, a workstream that
 * they may not perceive does not exist. For one that another machine has, they get Elsewhere.
 */
export class Workstreams {
  readonly #deps: RegistryDeps;
  readonly #open = new Map<string, Workstream>();
  /** Loads and creations in progress, so that two callers get the same workstream. */
  readonly #pending = new OnceKeys<Workstream>();
  /** Unloads in progress. A caller who asks for one of these waits until it is known whether it stayed. */
  readonly #leaving = new Leaving();
  /** When a workstream was loaded again: somebody uses it, although its conversation is old. */
  readonly #reopenedMs = new Map<string, number>();
  /** Workstreams being created or loaded; they count towards the limit. */
  #arriving = 0;

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
  }

  /**
   * Reads the previously open workstreams and their unfinished runs. Nobody finds them before the returned function opens them:
   * they would seem to have no runs. `from`: reads the rows of a machine that has gone.
   */
  async load(recovered: Map<string, AdoptedRun[]>, restore: RestoreRun, from = this.#deps.store) {
    const rows = await readOpen(from, recovered.keys());
    const logs = rows.map(({ ws_id }) => ws_id);
    await (this.#deps.store.takeLogs?.(logs) ?? this.#deps.store.openLogs(logs));
    const loaded = rows.filter(({ ws_id }) => !this.#open.has(ws_id)).map((row) => this.#make(row));
    for (const { data } of loaded) for (const run of recovered.get(data.wsId) ?? []) await restore(data, run);
    return () => loaded.map((one) => this.#addMade(one));
  }

  /** Continues the loaded runs. Call it when all listeners are registered. */
  async adopt(recovered: Map<string, AdoptedRun[]>): Promise<RunHandle[]> {
    const adopting = [...recovered].map(([wsId, runs]) => this.#open.get(wsId)?.adopt(runs) ?? []);
    return (await Promise.all(adopting)).flat();
  }

  /** In order of creation. */
  list(viewer: Viewer): Workstream[] {
    const perceived = [...this.#open.values()].filter(({ data }) => mayPerceive(viewer, data));
    return perceived.sort((a, b) => a.data.createdMs - b.data.createdMs);
  }

  find(wsId: string, viewer: Viewer): Workstream | undefined {
    const open = this.#open.get(wsId);
    return open && mayPerceive(viewer, open.data) ? open : undefined;
  }

  /** Like `find`, but not a workstream that is being unloaded or closed, which only `get` can return later. */
  findStaying(wsId: string, viewer: Viewer): Workstream | undefined {
    return this.#leaving.has(wsId) ? undefined : this.find(wsId, viewer);
  }

  /** A loaded workstream, or one that was unloaded to make room. Throws NOT_FOUND otherwise. */
  async get(wsId: string, viewer: Viewer): Promise<Workstream> {
    await this.#leaving.get(wsId);
    const open = this.find(wsId, viewer);
    if (open) return open;
    if (!(await this.#isInUse(wsId, viewer))) throw unknownWorkstream();
    return this.#reopen(wsId, viewer);
  }

  async #isInUse(wsId: string, viewer: Viewer): Promise<boolean> {
    const row = kindOfKey(wsId) === 'wsId' ? await readById(this.#deps.store, wsId, viewer) : undefined;
    // One that could not be given to another machine in the end is stored as loaded, but not open.
    return row !== undefined && (row.loaded !== 0 || this.#pending.get(wsId) !== undefined || this.#open.has(wsId));
  }

  /** Whether a workstream is stored under this ws_id, open or not. */
  async isStored(wsId: string, viewer: Viewer): Promise<boolean> {
    return this.find(wsId, viewer) !== undefined || (await readById(this.#deps.store, wsId, viewer)) !== undefined;
  }

  /** The workstream of a session key, reopened if it is closed; undefined when there is none. `opener`: who opens a closed one. */
  async findByKey(key: string, viewer: Viewer, opener: Viewer = DAEMON): Promise<Workstream | undefined> {
    const open = openByKey(key, this.#open);
    if (open) return mayPerceive(viewer, open.data) ? open : undefined;
    const row = await readByKey(this.#deps.store, key, viewer);
    if (row) requireOpening(row, opener);
    return row && this.#reopen(row.ws_id, viewer);
  }

  /**
   * Like `findByKey`, but loads nothing, for callers that only need data. `read`: accepts what it accepts, which is data as it
   * is stored if another machine has the workstream.
   */
  async lookUp(key: string, viewer: Viewer, { read = readByKey } = {}): Promise<WorkstreamData | undefined> {
    const open = openByKey(key, this.#open);
    if (open) return mayPerceive(viewer, open.data) ? open.data : undefined;
    const row = await read(this.#deps.store, key, viewer);
    return row && (this.#open.get(row.ws_id)?.data ?? createWorkstreamData(row, this.#deps));
  }

  /**
   * Like `findByKey`, but creates the session of a scheduled job, and the viewer's own for a key shaped like an alias, which
   * needs the permission that creating a workstream needs. So does a closed one, as for `workstream.open`.
   */
  async obtainByKey(key: string, viewer: Viewer): Promise<Workstream> {
    const found = await this.findByKey(key, viewer, viewer);
    if (found) return found;
    const named = await nameNewSession(key, { store: this.#deps.store, owned: newlyOwned(viewer, this.#deps.live) });
    if (!named) throw noSession(key);
    requirePermission(viewer, 'workstreams.create');
    const obtain = async () => (await this.findByKey(key, viewer, viewer)) ?? this.create(named); // perhaps made since
    return this.#pending.run(`${named.owned.ownerId} ${key}`, obtain);
  }

  /** Reopens a stored workstream by anything that `readByName` accepts; undefined when there is none. */
  async reopen(name: string, viewer: Viewer): Promise<{ workstream: Workstream; wasOpen: boolean } | undefined> {
    const row = await readByName(this.#deps.store, name, viewer);
    return row && { wasOpen: this.#open.has(row.ws_id), workstream: await this.#reopen(row.ws_id, viewer) };
  }

  /** `also` is committed together with the new row. */
  async create(options: CreateOptions, also: (row: WorkstreamTable) => Statement[] = () => []): Promise<Workstream> {
    if (options.wsId !== undefined) await requireUnusedId(options.wsId, this.#deps.store);
    const { row, statements } = await prepareNew(options, this.#deps);
    if (!this.#open.has(row.ws_id)) this.#deps.events.begin(row.ws_id);
    return this.#withRoom(row.ws_id, async () => {
      const elsewhere = this.#deps.coordinators.news.ofCreated(toTold(row));
      await this.#deps.store.commit({ statements: [insertWorkstream(row), ...statements, ...also(row)], elsewhere });
      return this.#add(row);
    }).catch((error: unknown) => {
      throw toCreateError(error, options);
    });
  }

  /** Stores a workstream with a conversation in batches, and opens it. Nobody sees it before `last` is committed. */
  addInBatches(
    { row, batches }: { row: WorkstreamTable; batches: Iterable<Statement[]> },
    last: Statement[],
  ): Promise<Workstream> {
    const { hidden, store } = this.#deps;
    return this.#withRoom(row.ws_id, async () => {
      await hidden.make(row, batches, (reveal) => store.commit({ statements: [reveal, ...last] }));
      return this.#add(row);
    });
  }

  /** Call it when the limit was lowered, or when a workstream may be idle now. Never throws. */
  async trim(): Promise<void> {
    if (this.#deps.stopping.aborted) return;
    await this.#thinOut().catch((err: unknown) => {
      this.#deps.log.warn({ err }, 'an idle workstream could not be unloaded; trying again after the next run');
    });
  }

  /** Closes a workstream: cancels its runs and ends its readers; its rows stay. `also` is committed with that. */
  async close(wsId: string, viewer: Viewer, also: readonly Statement[] = []): Promise<void> {
    requirePermission(viewer, 'workstreams.close');
    const workstream = await this.get(wsId, viewer);
    const { machine } = this.#deps.store;
    if (this.#open.size <= 1 && machine === null)
      throw new GatewayError('INVALID_REQUEST', 'Cannot close last workstream');
    const closed = setWorkstream(wsId, { loaded: 0, ...toAlwaysColumns(undefined) });
    await this.#unload(workstream, [closed, endRulesOf(wsId), endTrustOf(wsId), ...also]);
    workstream.data.endGrants();
  }

  /** Deletes a workstream, open or not, with its whole conversation. `also` is committed with that. False when it does not exist. */
  async remove(wsId: string, viewer: Viewer, also: readonly Statement[] = []): Promise<boolean> {
    const { store } = this.#deps;
    await Promise.allSettled([this.#leaving.get(wsId), this.#pending.get(wsId)]);
    if (!(await this.isStored(wsId, viewer))) return false;
    const marks = [...hideDeleted(wsId), ...also];
    const markIfStored = async () => this.#open.has(wsId) || (await markGone(wsId, marks, this.#deps));
    if (!this.#open.has(wsId) && !(await this.whileStill(wsId, markIfStored))) return false;
    const open = this.#open.get(wsId);
    if (open) await this.#unload(open, marks);
    else await endBackgroundIn(wsId, 'closed', this.#deps.background); // watches go on in unloaded ones
    for (const { data } of this.#open.values()) if (data.parentWsId === wsId) data.parentWsId = null;
    await removeRows(store, wsId);
    await this.#deps.onRemoved();
    return true;
  }

  /** Runs a change of a stored workstream, which nobody loads meanwhile. */
  whileStill<T>(wsId: string, work: () => Promise<T>): Promise<T> {
    return this.#leaving.holdAfter(wsId, this.#pending, work);
  }

  /** Runs work that makes workstreams this daemon's. Whoever asks for one of them waits for its end. */
  async whileArriving<T>(wsIds: readonly string[], work: () => Promise<T>): Promise<T> {
    const working = work();
    await Promise.all(wsIds.map((wsId) => this.#leaving.hold(wsId, working)));
    return working;
  }

  /** Gives a workstream to another machine, if it is at rest. Whoever asks for it waits until it is known who has it. */
  handOver(wsId: string, giving: Giving): Promise<boolean> {
    const unload = (open: Workstream) => this.#unload(open, giving.marks, 'moved');
    return this.whileStill(wsId, () => handOver(this.#open.get(wsId), { wsId, giving, unload }, this.#deps));
  }

  async shutdown(): Promise<void> {
    await Promise.all(
      this.list(DAEMON).map((ws) => ws.shutdown().then(() => this.#deps.workdirs.release(ws.data.wsId))),
    );
  }

  #make = (row: WorkstreamTable): Workstream => new Workstream(createWorkstreamData(row, this.#deps), this.#deps);
  #add = (row: WorkstreamTable): Workstream => this.#addMade(this.#make(row));

  #addMade(workstream: Workstream): Workstream {
    const { data } = workstream;
    this.#open.set(data.wsId, workstream);
    if (data.always) this.#deps.always.noteChange();
    this.#deps.workdirs.hold(data); // held from now on, so that a folder created there later is not mistaken for it
    this.#deps.onLoaded(data);
    return workstream;
  }

  async #reopen(wsId: string, viewer: Viewer): Promise<Workstream> {
    const opened = await this.#pending.run(wsId, () => this.#load(wsId));
    if (!mayPerceive(viewer, opened.data)) throw unknownWorkstream(); // it became private meanwhile
    return opened;
  }

  async #load(wsId: string): Promise<Workstream> {
    await this.#leaving.get(wsId);
    const open = this.#open.get(wsId);
    if (open) return open;
    return this.#withRoom(wsId, async () => {
      const row = await openStored(wsId, this.#deps);
      if (!row) throw unknownWorkstream();
      await readAgain(wsId, this.#deps);
      const made = this.#open.get(wsId); // it was being created
      if (made) return made;
      this.#reopenedMs.set(wsId, this.#deps.clock.now());
      return this.#add(row);
    });
  }

  async #withRoom(wsId: string, make: () => Promise<Workstream>): Promise<Workstream> {
    this.#arriving += 1;
    try {
      if (!(await this.#thinOut())) throw new NoRoom(this.#deps.live.maxWorkstreams);
      await this.#deps.store.openLogs([wsId]);
      return await make();
    } finally {
      this.#arriving -= 1;
    }
  }

  /** Unloads the idle ones that are too many. False if too many are in use. Their readers stay (decision 13). */
  #thinOut(): Promise<boolean> {
    const kept = { reopenedMs: this.#reopenedMs, background: this.#deps.background.commands, leaving: this.#leaving };
    return thinOut({
      excess: () => this.#open.size + this.#arriving - this.#deps.live.maxWorkstreams,
      idlest: () => idleLongest(this.#open.values(), kept),
      unload: (one) => this.#unload(one, [setWorkstream(one.data.wsId, { loaded: 2 })], 'evicted'),
    });
  }

  /** `marks` store the new state. */
  async #unload(workstream: Workstream, marks: readonly Statement[], reason: Unloading = 'closed'): Promise<void> {
    const { wsId } = workstream.data;
    // Both before the first await, so that nobody finds it, or starts a run in it, meanwhile.
    this.#open.delete(wsId);
    workstream.retire(reason);
    await this.#leaving.hold(wsId, this.#putAway(workstream, marks, reason));
    this.#reopenedMs.delete(wsId);
    await afterUnload(workstream.data, reason, this.#deps);
  }

  async #putAway(workstream: Workstream, marks: readonly Statement[], reason: Unloading): Promise<void> {
    try {
      await putAway(workstream, { marks, reason }, this.#deps);
    } catch (error) {
      if (reason === 'moved') throw error; // perhaps another machine has it: only a new look tells
      this.#open.set(workstream.data.wsId, workstream);
      workstream.reopen();
      throw error;
    }
  }
}
