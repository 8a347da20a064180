import { createHash } from 'node:crypto';
import { GatewayError } from '../../../protocol/errors.ts';
import type { NewChild, Spawned } from '../../agent/coordinator/coordination.ts';
import type { Message } from '../../agent/message.ts';
import { taintIn } from '../../agent/run/approval/taint.ts';
import { newProgress } from '../../agent/run/journal.ts';
import type { Sender } from '../rights.ts';
import type { RunRecord, RunRequest } from '../runs/run-record.ts';
import { insertJournal, insertRun } from '../runs/run-rows.ts';
import { DELETED } from '../store/deletion.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import type { Statement } from '../store/store.ts';
import { storeBudget } from '../usage/budget-rows.ts';
import type { CreateOptions } from '../workstreams/new-workstream.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { readSpawned } from './coordinator-rows.ts';
import type { Coordinators } from './coordinators.ts';

/** The coordinator that makes a child, and the run in which it does. */
export interface Spawning {
  data: WorkstreamData;
  /** Its conversation. */
  messages: readonly Message[];
  by: Sender;
  /** Nothing is made after it has aborted. */
  signal: AbortSignal;
}

/** Names what a call makes or sends, so that repeating the call finds it. */
export const callKey = (runId: string, callId: string, index = 0): string =>
  `co_${createHash('sha256')
    .update(JSON.stringify([runId, callId, index]))
    .digest('hex')
    .slice(0, 40)}`;

/**
 * Makes a workstream with its first message in one transaction: either both are there, and the message is sent even after a
 * kill, or neither is.
 */
export async function spawnChild(
  child: NewChild,
  { spawning, key }: { spawning: Spawning; key: string },
  coordinators: Coordinators,
): Promise<Spawned> {
  const { data, signal } = spawning;
  const { store } = coordinators.deps;
  try {
    return await coordinators.underParent(data, child, async () => {
      const before = await readSpawned(store, data.wsId, key);
      if (before?.loaded === DELETED)
        throw new GatewayError('CONFLICT', 'This call made a workstream that was deleted.');
      if (before) return { wsId: before.ws_id, name: before.alias ?? before.generated_name, isNew: false };
      signal.throwIfAborted();
      return create(child, { spawning, key }, coordinators);
    });
  } catch (error) {
    if (error instanceof GatewayError && error.code !== 'UNAVAILABLE') return { problem: error.message };
    throw error;
  }
}

async function create(
  child: NewChild,
  { spawning, key }: { spawning: Spawning; key: string },
  { deps, parts: { workstreams, runs } }: Coordinators,
): Promise<Spawned> {
  const { data, by, messages } = spawning;
  const { accounts, templates, budgets, clock, ids } = deps;
  const { skill, kind } = child;
  const begun = await templates.begin({ template: undefined, wsTemplate: undefined, skill, kind });
  const budget = budgets.ownOf(data.wsId) ?? begun.budget;
  const request = requestOf({ wsId: data.wsId, actsFor: await accounts.userIn(data.wsId) }, taintIn(messages));
  let run: RunRecord | undefined;
  const workstream = await workstreams.create(optionsFor(child, { spawning, key, begun }), (row): Statement[] => {
    run = firstRun(row, { message: child.message, by, request, runId: ids.id('run') });
    return [
      ...begun.statementsFor(row.ws_id),
      ...(budget ? [storeBudget(row.ws_id, budget)] : []),
      insertRun(run, 'queued'),
      insertJournal(run, { kind: 'accepted' }, clock.now()),
    ];
  });
  const { wsId, name } = workstream.data;
  if (budget) budgets.apply(wsId, budget);
  if (!run) throw new Error('the statements of a new workstream were not asked for');
  for (const handle of await workstream.adopt([{ run, progress: newProgress() }])) runs.track(handle);
  return { wsId, name, isNew: true };
}

/** It belongs to whom its coordinator does, and is allowed nothing that a person has not allowed there. */
function optionsFor(
  child: NewChild,
  {
    spawning: { data, by },
    key,
    begun,
  }: { spawning: Spawning; key: string; begun: { model: string | undefined; effort: CreateOptions['effort'] } },
): CreateOptions {
  const model = begun.model ?? child.model;
  return {
    owned: { ownerId: data.ownerId, visibility: data.visibility },
    ...(child.name !== undefined && { name: child.name }),
    ...(model !== undefined && { model }),
    isReadOnly: child.isReadOnly || data.isReadOnly,
    effort: begun.effort,
    // A model chooses only among the folders that everybody may name.
    ...(child.workdir === undefined
      ? { folder: { path: data.workdir, ino: data.workdirIno } }
      : { workdir: child.workdir, by: { id: by.principal, mayApprove: false } }),
    kind: child.kind,
    parentWsId: data.wsId,
    spawnKey: key,
  };
}

/** The parts of a request that all messages of a coordinator share. */
export const requestOf = (
  { wsId, actsFor }: Pick<WorkstreamData, 'wsId'> & { actsFor: string | undefined },
  taint: ReturnType<typeof taintIn>,
): Pick<RunRequest, 'unattended' | 'sentBy' | 'actsFor'> => ({
  unattended: true,
  ...(actsFor !== undefined && { actsFor }),
  sentBy: {
    wsId,
    ...(taint && { taint: { kind: taint.kind, ...(taint.target !== undefined && { target: taint.target }) } }),
  },
});

const firstRun = (
  { ws_id: wsId, run_epoch: epoch, created_ms: nowMs }: WorkstreamTable,
  {
    message,
    by: { principal, rights, sender },
    request,
    runId,
  }: { message: string; by: Sender; request: ReturnType<typeof requestOf>; runId: string },
): RunRecord => ({
  runId,
  wsId,
  principal,
  source: 'agent',
  request: { ...request, message, rights, ...(sender !== undefined && { sender }) },
  epoch,
  acceptedMs: nowMs,
});
