import type {
  Coordinator,
  CoordinatorChild,
  coordinatorContracts,
} from '../../../protocol/methods/conversation/coordinator.ts';
import type { Handlers } from '../call.ts';
import { callerOf } from '../caller.ts';
import { requirePermission } from '../required-rights.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { toTask } from './change-tasks.ts';
import { countOpen, readOpenCoordinators, readSkills, type TreeRow } from './coordinator-rows.ts';
import { type Coordinators, TRUSTING } from './coordinators.ts';
import { coordinatorMetrics } from './figures/coordinator-metrics.ts';
import { toSeen } from './look-into.ts';

interface CoordinatorMethodDeps {
  coordinators: Coordinators;
  store: Store;
}

const USUAL_CHILDREN = 200;

export const coordinatorMethods = ({
  coordinators,
  store,
}: CoordinatorMethodDeps): Handlers<keyof typeof coordinatorContracts> => ({
  async 'coordinator.list'({ wsId }, call) {
    const viewer = viewerOf(call);
    if (wsId !== undefined) await coordinators.get(wsId, viewer);
    const open = await readOpenCoordinators(store, viewer, wsId);
    return { coordinators: await Promise.all(open.map((row) => toCoordinator(row, coordinators))) };
  },
  async 'coordinator.children'({ wsId, limit = USUAL_CHILDREN }, call) {
    await coordinators.get(wsId, viewerOf(call));
    const children = await coordinators.childrenOf(wsId, viewerOf(call));
    const shown = children.slice(0, limit);
    const skills = await readSkills(
      store,
      shown.map((row) => row.ws_id),
    );
    return {
      items: shown.map((row) => toChild(row, skills.get(row.ws_id), coordinators)),
      truncated: shown.length < children.length,
    };
  },
  async 'coordinator.tasks'({ wsId }, call) {
    await coordinators.get(wsId, viewerOf(call));
    const { tasks } = await coordinators.read(wsId);
    return { version: 1, tasks: tasks.map(toTask) };
  },
  async 'coordinator.metrics'({ wsId }, call) {
    const viewer = viewerOf(call);
    await coordinators.get(wsId, viewer);
    return coordinatorMetrics(wsId, viewer, coordinators);
  },
  async 'coordinator.trust'({ wsId, send }, call) {
    requirePermission(call.principal, TRUSTING);
    await coordinators.get(wsId, viewerOf(call));
    const by = send ? callerOf(call).principal : undefined;
    const { untilMs } = await coordinators.trust(wsId, by, call.audited({ id: wsId, send }));
    return { status: 'ok', trustSend: send, ...(untilMs !== null && { trustUntilMs: untilMs }) };
  },
  async 'coordinator.restrict'({ wsId, revoke }, call) {
    await coordinators.get(wsId, viewerOf(call));
    const revokedTools = await coordinators.restrict(wsId, revoke, call.audited({ id: wsId, revoked: revoke }));
    return { status: 'ok', revokedTools: [...revokedTools] };
  },
  async 'coordinator.stop'({ wsId }, call) {
    const viewer = viewerOf(call);
    const { done, failed, skipped } = await coordinators.stop(await coordinators.get(wsId, viewer), viewer);
    await store.commit({ statements: call.audited({ id: wsId, cancelled: done, failed, skipped: skipped.length }) });
    return { status: 'ok', cancelled: [...done], failed: [...failed], skipped: [...skipped] };
  },
  async 'coordinator.close'({ wsId, reason }, call) {
    const viewer = viewerOf(call);
    requirePermission(viewer, 'workstreams.close');
    await coordinators.get(wsId, viewer);
    const { done, failed, skipped } = await coordinators.closeChildren(wsId, viewer);
    const detail = { id: wsId, closed: done, failed, skipped: skipped.length, ...(reason !== undefined && { reason }) };
    await store.commit({ statements: call.audited(detail) });
    return { status: 'ok', closed: [...done], failed: [...failed], skipped: [...skipped] };
  },
});

async function toCoordinator(row: TreeRow, coordinators: Coordinators): Promise<Coordinator> {
  const { store, always } = coordinators.deps;
  const { wsId, name, state, parentWsId } = toSeen(row, coordinators);
  const [{ trust }, revokedTools, openChildren] = await Promise.all([
    coordinators.read(wsId),
    coordinators.revokedIn(wsId),
    countOpen(store, wsId),
  ]);
  const isTrusted = always.isInForce(trust, TRUSTING);
  return {
    wsId,
    name,
    state,
    ...(parentWsId !== undefined && { parentWsId }),
    trustSend: isTrusted,
    ...(isTrusted && trust?.untilMs && { trustUntilMs: trust.untilMs }),
    revokedTools,
    openChildren,
  };
}

function toChild(
  row: TreeRow,
  skill: { name: string; version: string } | undefined,
  coordinators: Coordinators,
): CoordinatorChild {
  const { wsId, name, state, isOpen, kind, parentWsId = '', updatedMs } = toSeen(row, coordinators);
  return {
    wsId,
    nodeId: coordinators.deps.nodeId,
    name,
    state,
    isOpen,
    kind,
    parentWsId,
    skill: skill?.name ?? '',
    skillVersion: skill?.version ?? '',
    createdMs: row.created_ms,
    updatedMs,
  };
}
