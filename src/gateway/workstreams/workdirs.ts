import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { GatewayError } from '../../../protocol/errors.ts';
import { createLooks } from '../../agent/tools/files/file-looks.ts';
import type { FolderIdentity } from '../../agent/tools/files/held-folder.ts';
import type { WorkdirSource } from '../../agent/tools/workdir.ts';
import type { Clock } from '../../clock.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { type HeldWorkdir, holdWorkdir, type StoredWorkdir } from './held-workdir.ts';
import { findBarrier, isIn, resolveWorkdir, type WorkdirPolicy } from './workdir.ts';

/** The caller who chooses a folder. */
export interface Namer {
  id: string;
  /** Has the approve scope, so it may choose folders outside the allowed ones. */
  mayApprove: boolean;
}

export interface ChosenWorkdir {
  folder: FolderIdentity;
  /** Commit them with the choice, to remember the folder. */
  statements: Statement[];
}

/** The folders where workstreams may work, and those in use. */
export interface Workdirs {
  /** For a new workstream; the default folder without `asked`. Throws FORBIDDEN when the caller may not choose it. */
  choose(asked: string | undefined, by: Namer | undefined): Promise<ChosenWorkdir>;
  /** The folder currently at a path, checked like any other. */
  identify(path: string): Promise<FolderIdentity>;
  /** Opens the folder of a workstream; returns the same one until it is released. */
  hold(stored: StoredWorkdir): WorkdirSource;
  /** Releases it. */
  release(wsId: string): Promise<void>;
}

interface WorkdirsDeps {
  policy: WorkdirPolicy;
  /** `workdirs` of the configuration; undefined: the default folder and those chosen by approvers. */
  allowed: readonly string[] | undefined;
  store: Store;
  clock: Pick<Clock, 'now'>;
}

/** Links in the allowed folders are resolved now, so that replacing one later allows nothing else. */
export async function createWorkdirs({ policy, allowed, store, clock }: WorkdirsDeps): Promise<Workdirs> {
  const workspace = path.join(policy.home, 'workspace');
  const roots = await Promise.all([...(allowed ?? [workspace]), policy.standard].map(realOf));

  const held = new Map<string, HeldWorkdir>();
  const places = createLooks();
  const rules = {
    findBarrier: (folder: string) => findBarrier(policy, folder, places),
    async isOurs(folder: string) {
      const [home, standard] = await Promise.all([realpath(policy.home), realOf(policy.standard)]);
      return folder === standard && isIn(home, standard);
    },
    async onTaken(wsId: string, ino: string) {
      await store.commit({ statements: [setIno(wsId, ino)] });
    },
  };

  async function mayAnyoneName(real: string): Promise<boolean> {
    if (roots.some((root) => isIn(root, real))) return true;
    return allowed === undefined && (await readNamed(store)).some((root) => isIn(root, real));
  }

  /** Throws the same error for every folder that may not be chosen, so that it does not reveal whether it exists. */
  async function requireAllowed(asked: string): Promise<void> {
    const real = await realOf(asked);
    if (path.isAbsolute(asked) && (await mayAnyoneName(real))) return;
    throw new GatewayError('FORBIDDEN', outside(asked));
  }

  return {
    async choose(asked, by) {
      if (asked === undefined) return { folder: await resolveWorkdir(policy), statements: [] };
      if (!by?.mayApprove) await requireAllowed(asked);
      const folder = await resolveWorkdir(policy, asked);
      if (by?.mayApprove) return { folder, statements: [remember(folder.path, { by, nowMs: clock.now() })] };
      if (!(await mayAnyoneName(folder.path))) throw new GatewayError('FORBIDDEN', outside(asked)); // replaced meanwhile
      return { folder, statements: [] };
    },
    identify: (folder) => resolveWorkdir(policy, folder),
    hold(stored) {
      const known = held.get(stored.wsId);
      if (known) return known;
      const workdir = holdWorkdir(stored, rules);
      held.set(stored.wsId, workdir);
      return workdir;
    },
    async release(wsId) {
      const workdir = held.get(wsId);
      held.delete(wsId);
      await workdir?.[Symbol.asyncDispose]();
    },
  };
}

const outside = (asked: string): string =>
  `Working directory ${asked}: it is not in a folder where your credential may start work. Ask someone with the approve scope ` +
  'to use it once, or list it under "workdirs" in config.json.';

const realOf = (folder: string): Promise<string> => realpath(folder).catch(() => path.resolve(folder)); // not created yet

const readNamed = async (store: Store): Promise<string[]> =>
  (await store.db.selectFrom('workdirs').select('path').execute()).map((row) => row.path);

const remember = (folder: string, { by, nowMs }: { by: Namer; nowMs: number }): Statement =>
  statementOf(
    build
      .insertInto('workdirs')
      .values({ path: folder, principal: by.id, named_ms: nowMs })
      .onConflict((conflict) => conflict.column('path').doNothing()),
  );

const setIno = (wsId: string, ino: string): Statement =>
  statementOf(build.updateTable('workstreams').set({ workdir_ino: ino }).where('ws_id', '=', wsId));
