import { GatewayError } from '../../../protocol/errors.ts';
import type { Coordination, NewChild, Spawned, Target } from '../../agent/coordinator/coordination.ts';
import { withoutRevoked } from '../../agent/coordinator/revoked-tools.ts';
import { taintIn } from '../../agent/run/approval/taint.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import { toolboxFor } from '../../agent/tools/toolbox.ts';
import { authorsOf, lastAuthorOf } from '../queue/authors.ts';
import { requirePermission } from '../required-rights.ts';
import type { Sender } from '../rights.ts';
import { DAEMON, mayPerceive, sightInCommon, type Viewer } from '../sharing/perception.ts';
import { whileLoaded } from '../workstreams/closing.ts';
import { unknownWorkstream } from '../workstreams/session-keys.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { tellCloses, tellSpawns, tellWait } from './call-events.ts';
import { changedTasks, toTask } from './change-tasks.ts';
import { ownedOf, readBelow, readTreeRow, storeTasks, type TreeRow } from './coordinator-rows.ts';
import type { CoordinatorRun, RunCoordinators } from './coordinator-run.ts';
import type { Coordinators } from './coordinators.ts';
import { cancelAll, closeAll } from './end-workstreams.ts';
import { lookInto, toResults, toSeen } from './look-into.ts';
import { callKey, requestOf, spawnChild } from './spawn-child.ts';
import { findSteerers, readRunByKey } from './steerer-rows.ts';
import { waitUntilIdle } from './wait-until-idle.ts';

/** The run of a coordinator. */
interface Of {
  live: CoordinatorRun;
  data: WorkstreamData;
  coordinators: Coordinators;
}

/** Coordinators, as runs use them. */
export const createRunCoordinators = (coordinators: Coordinators): RunCoordinators => ({
  news: coordinators.news,
  toolboxOf({ wsId, kind, parentWsId }, all) {
    const toolbox = toolboxFor(kind, all);
    if (kind !== 'coordinator' && parentWsId === null) return toolbox;
    return withoutRevoked(toolbox, () => coordinators.revokedIn(wsId));
  },
  coordinationOf: (live, data) =>
    data.kind === 'coordinator' ? createCoordination({ live, data, coordinators }) : undefined,
});

/** What a run of a coordinator may do with other workstreams: each time with the rights that its caller has then. */
function createCoordination(of: Of): Coordination {
  const { live, data, coordinators } = of;
  const { deps, parts } = coordinators;
  const ending = { workstreams: parts.workstreams, log: deps.log };
  return {
    async spawn(callId, children, { isBatch }) {
      for (const author of await authorsIn(of)) requirePermission(author, 'workstreams.create');
      const spawned: Spawned[] = [];
      const work = () => spawnAll(of, { callId, children, spawned });
      await (isBatch ? tellSpawns(live, { callId, spawned, total: children.length }, work) : work());
      return spawned;
    },
    below: async () => (await perceivedBelow(of)).map((row) => toSeen(row, coordinators)),
    find: (wsId) => find(of, wsId),
    send: (callId, target, message) => send(of, { callId, target, message }),
    look: async (wsId, limit) => lookInto(await getBelow(of, wsId), { limit }, coordinators),
    async wait(callId, wsIds, until) {
      const before = await getAllBelow(of, wsIds);
      const end = await tellWait(
        live,
        { callId, wsIds, ...until, results: () => toResults(before, coordinators) },
        { clock: deps.clock, work: (onLook) => waitUntilIdle(wsIds, { ...until, onLook }, coordinators) },
      );
      const after = Map.groupBy(await perceivedBelow(of), (row) => row.ws_id);
      const there = wsIds.flatMap((wsId) => after.get(wsId) ?? []); // others were deleted meanwhile
      const seen = there.map((row) => lookInto(row, { limit: 1, answersOnly: true }, coordinators));
      return { end, seen: await Promise.all(seen) };
    },
    async cancel(wsIds) {
      const rows = await getAllBelow(of, wsIds);
      return cancelAll(
        rows.map(({ ws_id }) => ws_id),
        ending,
      );
    },
    async close(wsIds) {
      const viewer = await callerOf(of);
      requirePermission(viewer, 'workstreams.close');
      return closeAll(await getAllBelow(of, wsIds), viewer, ending);
    },
    async closeAll(callId) {
      const viewer = await callerOf(of);
      requirePermission(viewer, 'workstreams.close');
      const own = (await perceivedBelow(of)).filter(({ parent_ws_id: parent }) => parent === data.wsId);
      return tellCloses(live, { callId, total: own.length }, () => closeAll(own, viewer, ending));
    },
    remove: (wsId) => remove(of, wsId),
    nodes() {
      const all = parts.workstreams.list(DAEMON);
      const running = all.filter(({ busy }) => busy).length;
      const { maxWorkstreams } = deps.live;
      return [{ nodeId: deps.nodeId, workstreams: all.length, running, maxWorkstreams }];
    },
    tasks: async () => (await coordinators.read(data.wsId)).tasks.map(toTask),
    changeTasks: (callId, change) =>
      coordinators.changing(data.wsId, async () => {
        await callerOf(of);
        if (change.action !== 'remove' && change.childWsId) await getBelow(of, change.childWsId);
        const { tasks } = await coordinators.read(data.wsId);
        const nowMs = deps.clock.now();
        const changed = changedTasks(tasks, change, { callId, nowMs });
        await deps.store.commit({ statements: [storeTasks(data.wsId, changed, nowMs)] });
        return changed.map(toTask);
      }),
  };
}

/** Throws what says nothing about one child: after a shutdown, the whole call is made again. */
function problemOf(error: unknown): string {
  if (error instanceof GatewayError) return error.message;
  if (error instanceof StopReason && error.kind !== 'shutdown') return 'It was not made, because the run was stopped.';
  throw error;
}

/** Adds to `spawned` what became of each. A cancelled run makes no more, and still learns which ones there are. */
async function spawnAll(
  { live, data, coordinators }: Of,
  { callId, children, spawned }: { callId: string; children: readonly NewChild[]; spawned: Spawned[] },
): Promise<void> {
  const spawning = { data, messages: live.messages, by: senderOf(live), signal: live.signal };
  for (const [index, child] of children.entries())
    try {
      spawned.push(await spawnChild(child, { spawning, key: callKey(live.run.runId, callId, index) }, coordinators));
    } catch (error) {
      spawned.push({ problem: problemOf(error) });
    }
}

const senderOf = ({ run, run: { request } }: CoordinatorRun): Sender => ({
  principal: lastAuthorOf(run),
  rights: request.rights ?? 'public',
  ...(request.sender !== undefined && { sender: request.sender }),
});

/**
 * Who wrote the message of the run, with the rights of now, the latest author first. Throws FORBIDDEN if one of them may
 * not coordinate, or has steered the run and may not: also if the credential has ended.
 */
async function authorsIn({ live, data, coordinators: { deps } }: Of): Promise<[Viewer, ...Viewer[]]> {
  const { run } = live;
  const isSteered = live.messages.some((message) => message.role === 'user' && message.steered);
  const steerers = isSteered ? await findSteerers(deps.store, { wsId: data.wsId, runId: run.runId }) : [];
  const authors = authorsOf(run);
  for (const one of [...authors, ...steerers]) {
    if (deps.authenticator.endOf(one)?.aborted)
      throw new GatewayError('FORBIDDEN', 'Forbidden: the credential behind this run has ended');
    requirePermission(deps.authenticator.viewerOf(one), 'admin.coordinator');
  }
  const last = lastAuthorOf(run);
  const others = authors.filter((author) => author !== last);
  return [deps.authenticator.viewerOf(last), ...others.map((author) => deps.authenticator.viewerOf(author))];
}

/** For whom the run acts. Throws like `authorsIn`. */
const callerOf = async (of: Of): Promise<Viewer> => (await authorsIn(of))[0];

/** What all its authors perceive, and everybody who reads the conversation. */
async function perceives(of: Of): Promise<(row: TreeRow) => boolean> {
  const viewers = [...(await authorsIn(of)), sightInCommon(of.data)];
  return (row) => viewers.every((viewer) => mayPerceive(viewer, ownedOf(row)));
}

async function perceivedBelow(of: Of): Promise<TreeRow[]> {
  const isPerceived = await perceives(of);
  return (await readBelow(of.coordinators.deps.store, of.data.wsId)).filter(isPerceived);
}

async function getBelow(of: Of, wsId: string): Promise<TreeRow> {
  const [found] = await getAllBelow(of, [wsId]);
  return found ?? unknownBelow(wsId);
}

async function getAllBelow(of: Of, wsIds: readonly string[]): Promise<TreeRow[]> {
  const below = Map.groupBy(await perceivedBelow(of), (row) => row.ws_id);
  return wsIds.flatMap((wsId) => below.get(wsId) ?? unknownBelow(wsId));
}

function unknownBelow(wsId: string): never {
  throw new GatewayError(
    'NOT_FOUND',
    `${wsId.slice(0, 64)} is no workstream that works for you. list_workstreams shows those that do.`,
  );
}

async function find(of: Of, wsId: string): Promise<Target> {
  const { live, data, coordinators } = of;
  const isPerceived = await perceives(of);
  const row = await readTreeRow(coordinators.deps.store, wsId);
  if (!row || !isPerceived(row)) throw unknownWorkstream();
  if (wsId === data.wsId) throw new GatewayError('INVALID_REQUEST', 'This is your own workstream.');
  if (row.loaded === 0) throw new GatewayError('CONFLICT', 'This workstream is closed.');
  const below = await readBelow(coordinators.deps.store, data.wsId);
  const isBelow = below.some(({ ws_id }) => ws_id === wsId);
  return {
    wsId,
    name: toSeen(row, coordinators).name,
    isBelow,
    isTrusted: isBelow && (await coordinators.trusts(data, live)),
  };
}

async function send(
  { live, data, coordinators: { deps, parts } }: Of,
  { callId, target: { wsId }, message }: { callId: string; target: Target; message: string },
): Promise<{ isQueued: boolean }> {
  const by = senderOf(live);
  const key = callKey(live.run.runId, callId);
  const before = await readRunByKey(deps.store, { principal: by.principal, wsId, key });
  if (before) return { isQueued: before.status === 'queued' };
  const actsFor = await deps.accounts.userIn(data.wsId);
  live.signal.throwIfAborted();
  const handle = await whileLoaded(
    () => parts.workstreams.get(wsId, DAEMON),
    (to) =>
      parts.runs.accept(to, {
        ...by,
        message,
        key,
        source: 'agent',
        request: requestOf({ wsId: data.wsId, actsFor }, taintIn(live.messages)),
      }),
  );
  return { isQueued: handle.run.startedMs === undefined };
}

async function remove(of: Of, wsId: string): Promise<void> {
  const { live, coordinators } = of;
  const viewer = await callerOf(of);
  await getBelow(of, wsId);
  if (senderOf(live).rights !== 'approve')
    throw new GatewayError('FORBIDDEN', 'Forbidden: deleting needs the approve scope of whoever wrote to you');
  const children = await coordinators.childrenOf(wsId, DAEMON);
  if (children.length > 0)
    throw new GatewayError('CONFLICT', `${children.length} workstreams work for it. Delete these first.`);
  await coordinators.parts.workstreams.remove(wsId, viewer);
}
