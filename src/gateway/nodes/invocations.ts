import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { NodeInvokeRequest, NodeInvokeResult, NodeInvokeResultParams } from '../../../protocol/methods/node.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { passesSteadily } from '../../timing/steady-time.ts';
import type { InvocationTable } from '../store/schema/node-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, tookEffect, UnitRefused } from '../store/store.ts';
import { storedReader } from '../store/stored-value.ts';
import { cleanOutcome } from './clean-outcome.ts';
import type { ConnectedNodes } from './connected-nodes.ts';
import { createInvocationDeadlines, type InvocationDeadlines } from './invocation-deadlines.ts';
import { readOutcome, toOutcome, toResult } from './invocation-outcome.ts';
import { createOutcomeWaits, type WaitEnd } from './outcome-waits.ts';
import type { PairedNodes } from './paired-nodes.ts';

/** A command for a node. */
export interface Invocation {
  nodeId: string;
  command: string;
  params: unknown;
  /** 0: the default of 30 s. */
  timeoutMs: number;
  /** The idempotency key that the node receives. */
  key: string;
  /** A tool call, which runs only once even if it is repeated, also after a restart. */
  toolCall?: string;
  /** Statements to commit with it. */
  keep?(invokeId: string): Statement[];
}

/**
 * Commands sent to nodes. Each is stored before it is sent, and sent at most once. Its result is stored whenever it
 * arrives, and repeated calls get it.
 */
export interface Invocations {
  /**
   * Refuses a command that is not allowed. Rejects when the signal aborts. A command continues when its caller
   * disconnects; when the run of a tool call is cancelled, the node is asked to stop it.
   */
  start(invocation: Invocation, signal: AbortSignal): Promise<NodeInvokeResult>;
  /** The result of an earlier invocation: the stored one, or the one that arrives before its deadline. */
  resume(invokeId: string, signal: AbortSignal): Promise<NodeInvokeResult>;
  /** Records a node's answer; false when the node was not asked, or the answer is known. */
  finish(nodeId: string, result: NodeInvokeResultParams): Promise<boolean>;
  /** Removes invocations older than a day, hourly while the clock does not jump. */
  run(signal: AbortSignal): Promise<void>;
}

export interface InvocationsDeps {
  store: Pick<Store, 'db' | 'commit' | 'reportDamage'>;
  connected: Pick<ConnectedNodes, 'find' | 'watch'>;
  paired: Pick<PairedNodes, 'revocationOf'>;
  /** Throws if the command is currently not allowed. */
  checkAllowed(nodeId: string, command: string): void;
  /** Replaces what must not be stored in a text of a node. */
  clean(text: string): string;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  log: Log;
}

export function createInvocations({
  store,
  connected,
  paired,
  checkAllowed,
  clean,
  clock,
  ids,
  log,
}: InvocationsDeps): Invocations {
  const waits = createOutcomeWaits({ connected, paired, clock });
  const deadlines = createInvocationDeadlines(clock);
  const findRow = (column: 'invoke_id' | 'tool_call', value: string) =>
    store.db.selectFrom('invocations').selectAll().where(column, '=', value).executeTakeFirst();

  async function wait(row: InvocationTable, signal: AbortSignal): Promise<NodeInvokeResult> {
    const end = await waits.wait({ ...row, left_ms: deadlines.leftMs(row) }, signal).catch((error: unknown) => {
      if (isCalledOff(row, signal)) callOff(row, connected);
      throw error;
    });
    if (end.kind === 'answered') return toResult(row, end.outcome);
    throw toUnanswered(row, end.kind);
  }

  /**
   * Sends a command that is stored as sent. If the node has disconnected, resets it to unsent, so that a repeat may
   * send it.
   */
  async function send(row: InvocationTable, signal: AbortSignal): Promise<NodeInvokeResult> {
    const node = connected.find(row.node_id);
    if (node === undefined || isCalledOff(row, signal)) {
      await store.commit({ statements: [move(row, { from: 'sent', to: { status: 'unsent' } })], durable: true });
      throw node === undefined ? notConnected(row.node_id) : signal.reason;
    }
    const outcome = wait(row, signal); // before sending, because the answer may come at once
    node.link.send('node.invoke.request', toRequest(row, deadlines.leftMs(row)));
    return outcome;
  }

  async function resumeRow(row: InvocationTable, signal: AbortSignal): Promise<NodeInvokeResult> {
    if (row.outcome_json !== null)
      return toResult(row, readOutcome({ id: row.invoke_id, json: row.outcome_json }, storedReader(store)));
    if (row.status !== 'unsent') return wait(row, signal);
    requireReady({ checkAllowed, connected }, row); // things may have changed since it was stored
    const to = { status: 'sent', deadline_ms: clock.now() + row.timeout_ms } as const;
    deadlines.begin(row);
    const isOurs = await tookEffect(store.commit({ statements: [move(row, { from: 'unsent', to })], durable: true }));
    if (isOurs) return send({ ...row, ...to }, signal);
    return resumeRow((await findRow('invoke_id', row.invoke_id)) ?? row, signal); // another repeat was quicker
  }

  return {
    async start(invocation, signal) {
      const { toolCall, keep } = invocation;
      const known = toolCall === undefined ? undefined : await findRow('tool_call', toolCall);
      if (known) return resumeRow(known, signal);
      const row = toRow(invocation, ids.id('inv'), clock.now());
      requireReady({ checkAllowed, connected }, row);
      deadlines.begin(row);
      const insert = statementOf(build.insertInto('invocations').values(row));
      await store.commit({ statements: [insert, ...(keep?.(row.invoke_id) ?? [])], durable: true });
      return send(row, signal);
    },
    async resume(invokeId, signal) {
      const row = await findRow('invoke_id', invokeId);
      if (row === undefined) throw new GatewayError('NOT_FOUND', 'the invocation is too old; its result has expired');
      return resumeRow(row, signal);
    },
    async finish(nodeId, result) {
      const row = await findRow('invoke_id', result.id);
      if (row === undefined || row.node_id !== nodeId) return false;
      const outcome = cleanOutcome(toOutcome(result), clean);
      const to = { status: outcome.kind, outcome_json: JSON.stringify(outcome), finished_ms: clock.now() };
      try {
        await store.commit({ statements: [move(row, { from: 'sent', to })] });
      } catch (error) {
        if (error instanceof UnitRefused) return false; // already answered
        throw error;
      }
      waits.answer(row.invoke_id, outcome);
      return true;
    },
    run: (signal) => sweep({ store, deadlines, clock, log }, signal),
  };
}

/**
 * Whether no caller will request the result any more: the run itself ends here, not only this daemon or a connection.
 */
const isCalledOff = ({ tool_call }: InvocationTable, { aborted, reason }: AbortSignal): boolean =>
  aborted && tool_call !== null && reason instanceof StopReason && ['cancel', 'timeout'].includes(reason.kind);

/** Asks the node to stop. A disconnected node does not get this, and continues until the deadline. */
function callOff({ invoke_id, node_id }: InvocationTable, connected: InvocationsDeps['connected']): void {
  connected.find(node_id)?.link.send('node.invoke.cancel', { id: invoke_id, nodeId: node_id });
}

type ReadyDeps = Pick<InvocationsDeps, 'checkAllowed' | 'connected'>;

function requireReady({ checkAllowed, connected }: ReadyDeps, { node_id, command }: InvocationTable): void {
  checkAllowed(node_id, command);
  if (connected.find(node_id) === undefined) throw notConnected(node_id);
}

const SWEEP_MS = 60 * 60 * 1000;

type SweepDeps = Pick<InvocationsDeps, 'store' | 'clock' | 'log'> & { deadlines: InvocationDeadlines };

async function sweep({ store, clock, log, deadlines }: SweepDeps, signal: AbortSignal) {
  while (!signal.aborted) {
    const isSteady = await passesSteadily(clock, SWEEP_MS, signal).catch(() => false); // aborted: the loop ends
    if (!isSteady) continue;
    deadlines.sweep();
    const old = build.deleteFrom('invocations').where('deadline_ms', '<=', clock.now() - LIMITS.idempotencyMs);
    await store.commit({ statements: [statementOf(old)] }).catch((error: unknown) => {
      log.warn({ err: error }, 'old invocations could not be removed');
    });
  }
}

const toRequest = (row: InvocationTable, leftMs: number): NodeInvokeRequest => ({
  id: row.invoke_id,
  nodeId: row.node_id,
  command: row.command,
  paramsJSON: row.params_json,
  timeoutMs: Math.max(0, leftMs),
  idempotencyKey: row.invoke_key,
});

function toRow({ nodeId, command, params, key, toolCall, ...asked }: Invocation, invokeId: string, nowMs: number) {
  const timeoutMs = asked.timeoutMs || LIMITS.nodeInvokeMs;
  return {
    invoke_id: invokeId,
    node_id: nodeId,
    command,
    params_json: params === undefined ? null : JSON.stringify(params),
    invoke_key: key,
    tool_call: toolCall ?? null,
    timeout_ms: timeoutMs,
    status: 'sent',
    outcome_json: null,
    deadline_ms: nowMs + timeoutMs,
    finished_ms: null,
  } satisfies InvocationTable;
}

interface Move {
  from: InvocationTable['status'];
  to: Partial<InvocationTable> & { status: InvocationTable['status'] };
}

/** Refused when the row is not in the expected state. */
const move = ({ invoke_id }: InvocationTable, { from, to }: Move): Statement =>
  statementOf(
    build.updateTable('invocations').set(to).where('invoke_id', '=', invoke_id).where('status', '=', from),
    1,
  );

const notConnected = (nodeId: string) =>
  new GatewayError('UNAVAILABLE', `node not connected (${nodeId})`, { details: { code: 'NOT_CONNECTED' } });

const UNKNOWN =
  'It is unknown whether it ran. It is not sent again; repeating this key returns its result if it arrives.';

function toUnanswered(row: InvocationTable, kind: Exclude<WaitEnd['kind'], 'answered'>): GatewayError {
  if (kind === 'revoked') return pairingRevoked(row);
  return kind === 'lost' ? nodeLost(row) : timedOut(row);
}

const pairingRevoked = ({ command, invoke_id }: InvocationTable) =>
  new GatewayError(
    'UNAVAILABLE',
    `the pairing of the node was revoked while it ran ${command}. It is unknown whether it finished; it is not sent again.`,
    { details: { code: 'PAIRING_REVOKED', invokeId: invoke_id }, retryable: false }, // the node can no longer report the result
  );

const nodeLost = ({ command, invoke_id }: InvocationTable) =>
  new GatewayError('UNAVAILABLE', `the node disconnected while running ${command}. ${UNKNOWN}`, {
    details: { code: 'NODE_LOST', invokeId: invoke_id },
  });

const timedOut = ({ command, timeout_ms, invoke_id }: InvocationTable) =>
  new GatewayError('TIMEOUT', `no answer to ${command} within ${timeout_ms} ms. ${UNKNOWN}`, {
    details: { code: 'TIMEOUT', invokeId: invoke_id },
  });
