import type { WorkstreamKind } from '../../../protocol/methods/conversation/kinds.ts';
import type { Effort } from '../../../protocol/stream-events.ts';
import { readJobName } from '../cron/job-session.ts';
import { requirePermission } from '../required-rights.ts';
import { OF_EVERYONE, type Owned, type Viewer } from '../sharing/perception.ts';
import type { TreeColumns } from '../store/schema/coordinators/coordinator-schema.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import type { Statement, Store } from '../store/store.ts';
import type { Always } from './always.ts';
import { kindOfKey, MAIN, requireReadableName } from './session-keys.ts';
import type { Namer } from './workdirs.ts';
import type { WorkstreamDeps } from './workstream-deps.ts';
import { toWorkstreamRow } from './workstream-rows.ts';

export interface CreateOptions {
  /** Default: a new one. It must be free. */
  wsId?: string | undefined;
  judgeModel?: string | undefined;
  /** Labels that its machine needs, each once. */
  machineLabels?: readonly string[];
  owned: Owned;
  /** The name shown in lists; not unique. */
  name?: string;
  /** A unique name. */
  alias?: string;
  model?: string;
  always?: Always | undefined;
  isReadOnly?: boolean;
  effort?: Effort | undefined;
  workdir?: string;
  /** The folder of another workstream, instead of a choice. */
  folder?: { path: string; ino: string | null };
  /** The caller who chooses the working directory. */
  by?: Namer | undefined;
  sessionKey?: string | undefined;
  /** The name until a person gives one. */
  generatedName?: string | undefined;
  kind?: WorkstreamKind | undefined;
  /** The coordinator that it works for. */
  parentWsId?: string | undefined;
  /** The call that makes it: repeating the call finds it. */
  spawnKey?: string | undefined;
}

/** The row of a new workstream, and more statements to commit with it. Refuses invalid names, models and folders. */
export async function prepareNew(
  options: CreateOptions,
  {
    store,
    models,
    workdirs,
    ids,
    clock,
  }: Pick<WorkstreamDeps, 'models' | 'workdirs' | 'ids' | 'clock'> & { store: Pick<Store, 'machine'> },
): Promise<{ row: WorkstreamTable; statements: Statement[] }> {
  const { owned, alias, sessionKey, generatedName, always, effort, by } = options;
  const name = options.name?.trim();
  if (name) requireReadableName(name);
  if (alias !== undefined) requireReadableName(alias);
  const asked = options.model?.trim();
  const model = asked ? (await models.resolve(asked)).alias : undefined;
  const { folder, statements } = options.folder
    ? { folder: options.folder, statements: [] }
    : await workdirs.choose(options.workdir?.trim() || undefined, by);
  const judge = options.judgeModel?.trim();
  const row = toWorkstreamRow({
    wsId: options.wsId ?? ids.wsId(),
    judgeModel: judge ? (await models.resolve(judge)).alias : undefined,
    machineLabels: options.machineLabels,
    owned,
    sessionKey,
    generatedName,
    always,
    isReadOnly: options.isReadOnly ?? false,
    effort,
    ...(name && { name }),
    ...(alias !== undefined && { alias }),
    ...(model !== undefined && { model }),
    workdir: folder.path,
    workdirIno: folder.ino,
    tree: treeOf(options),
    nowMs: clock.now(),
  });
  return { row: { ...row, machine: store.machine }, statements };
}

const treeOf = ({ kind = 'interactive', parentWsId, spawnKey }: CreateOptions): TreeColumns => ({
  kind,
  parent_ws_id: parentWsId ?? null,
  spawn_key: spawnKey ?? null,
});

/** Throws FORBIDDEN if the workstream was closed, and the opener may not open it again. */
export function requireOpening({ loaded }: Pick<WorkstreamTable, 'loaded'>, opener: Viewer): void {
  if (loaded === 0) requirePermission(opener, 'workstreams.create');
}

type NewSession = { sessionKey: string; owned: Owned; generatedName?: string; alias?: string };

/**
 * The settings for a new session with this key; undefined when none can be created. `owned`: for an alias; the main
 * session and those of jobs are everyone's.
 */
export async function nameNewSession(
  key: string,
  { store, owned }: { store: Pick<Store, 'db' | 'machine' | 'reportDamage'>; owned: Owned },
): Promise<NewSession | undefined> {
  if (key === MAIN) return { sessionKey: MAIN, owned: OF_EVERYONE };
  if (kindOfKey(key) === 'alias') return { sessionKey: key, alias: key, owned };
  const jobName = await readJobName(store, key);
  return jobName === undefined ? undefined : { sessionKey: key, generatedName: jobName, owned: OF_EVERYONE };
}
