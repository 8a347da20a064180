import { GatewayError } from '../../../protocol/errors.ts';
import type { Params } from '../../../protocol/index.ts';
import type { agentContracts } from '../../../protocol/methods/agent.ts';
import type { OutputChecks } from '../../agent/output/answer-checks.ts';
import type { Clock } from '../../clock.ts';
import { until } from '../../timing/until.ts';
import { requireUsable } from '../answers/usable-schema.ts';
import { requireStanding } from '../auth/require-authentication.ts';
import { type Call, type Handlers, keptOf } from '../call.ts';
import { callerOf } from '../caller.ts';
import type { Channels } from '../channels/channels.ts';
import { resolveDelivery } from '../channels/run-delivery.ts';
import type { Messages } from '../history/messages.ts';
import { answerOfRun } from '../history/run-answer.ts';
import { isOver, type RunHandle, type RunResult } from '../runs/run-record.ts';
import type { Runs } from '../runs/runs.ts';
import { DAEMON, type Viewer, viewerOf } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { MAIN } from '../workstreams/session-keys.ts';
import { effortOfLevel } from '../workstreams/thinking-level.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

interface AgentMethodDeps {
  workstreams: Workstreams;
  runs: Runs;
  channels: Channels;
  outputChecks: Pick<OutputChecks, 'problemOf'>;
  store: Pick<Store, 'db'>;
  messages: Pick<Messages, 'backwards'>;
  clock: Clock;
}

const WAIT_MS = 30_000;

export const agentMethods = (deps: AgentMethodDeps): Handlers<keyof typeof agentContracts> => ({
  agent: async (params, call) => {
    const earlier = await findKept(call, deps);
    if (earlier && (await isOver(earlier))) return toAgentResult(await earlier.ended);
    const handle = earlier ?? (await accept(params, call, deps));
    call.interim({ runId: handle.run.runId, status: 'accepted' });
    const result = await until(handle.ended, call.signal);
    await requireSight(handle, call, deps);
    return toAgentResult(result);
  },
  'agent.wait': async ({ runId, sessionKey, timeoutMs = WAIT_MS, withAnswer }, call) => {
    const key = sessionKey?.trim();
    const session = key ? await deps.workstreams.lookUp(key, viewerOf(call)) : undefined;
    const by = { ...seekerOf(call), ...(session && { wsId: session.wsId }) };
    const handle = key && !session ? undefined : await deps.runs.find(runId, by);
    if (!handle) throw unknownRun();
    const result = await inTime(handle, { timeoutMs, clock: deps.clock, signal: call.signal });
    await requireSight(handle, call, deps);
    const isTold = result !== undefined && withAnswer === true;
    return { ...toWaitResult(runId, handle, result), ...(isTold && (await answered(handle, deps))) };
  },
});

const unknownRun = () => new GatewayError('NOT_FOUND', 'unknown runId');

/**
 * The credential may have ended, and the workstream may have become private, while the caller waited. One that was deleted
 * meanwhile hides nothing.
 */
async function requireSight({ run }: RunHandle, call: Call, { workstreams }: AgentMethodDeps): Promise<void> {
  requireStanding(call.principal);
  if (await workstreams.isStored(run.wsId, viewerOf(call))) return;
  if (await workstreams.isStored(run.wsId, DAEMON)) throw unknownRun();
}

async function answered({ run }: RunHandle, deps: AgentMethodDeps): Promise<{ answer?: string }> {
  const { wsId, runId, request } = run;
  const answer = await answerOfRun({ wsId, runId: request.steeredInto ?? runId }, deps);
  return answer === undefined ? {} : { answer };
}

/** The caller, as one who looks for a run. */
const seekerOf = (call: Call) => ({ principal: call.principal?.id ?? 'unknown', viewer: viewerOf(call) });

/** The run that an earlier call with the same key started. */
async function findKept(call: Call, { runs }: AgentMethodDeps): Promise<RunHandle | undefined> {
  const kept = keptOf<{ runId: string; wsId: string }>(call);
  if (!kept) return undefined;
  const found = await runs.find(kept.runId, { ...seekerOf(call), wsId: kept.wsId });
  if (!found) throw unknownRun(); // its workstream is gone, or no longer the caller's to see
  return found;
}

/** Finds the session by key or id. Refuses contradicting names before a session is created. */
async function sessionOf(
  named: Pick<Params<'agent'>, 'sessionKey' | 'sessionId'>,
  { viewer, workstreams }: { viewer: Viewer; workstreams: Workstreams },
) {
  const [key, id] = [named.sessionKey?.trim(), named.sessionId?.trim()];
  if (!key || !id || key === id) return key || id || MAIN;
  const [byKey, byId] = [await workstreams.lookUp(key, viewer), await workstreams.lookUp(id, viewer)];
  if (byKey !== undefined && byKey.wsId === byId?.wsId) return key;
  const [shownKey, shownId] = [key.slice(0, 80), id.slice(0, 80)];
  throw new GatewayError('INVALID_REQUEST', `sessionKey ${shownKey} and sessionId ${shownId} name different sessions`);
}

async function accept(
  params: Parameters<Handlers<'agent'>['agent']>[0],
  call: Call,
  deps: AgentMethodDeps,
): Promise<RunHandle> {
  const { workstreams, runs } = deps;
  const viewer = viewerOf(call);
  if (params.message.trim() === '') throw new GatewayError('INVALID_REQUEST', 'Empty message');
  const effort = params.thinking === undefined ? undefined : effortOfLevel(params.thinking); // before a session is created
  await requireUsable(params.outputSchema, call, deps.outputChecks);
  const sessionKey = await sessionOf(params, { viewer, workstreams });
  const known = params.deliver ? await workstreams.lookUp(sessionKey, viewer) : undefined;
  const deliver = await resolveDelivery({ ...params, viewer, wsId: known?.wsId }, deps);
  const workstream = await workstreams.obtainByKey(sessionKey, viewer);
  const { wsId } = workstream.data;
  return runs.accept(workstream, {
    message: params.message,
    ...callerOf(call),
    key: params.idempotencyKey,
    source: 'agent',
    request: {
      ...(effort && { effort }),
      ...(params.timeout && { timeoutMs: params.timeout * 1000 }),
      ...(deliver && { deliver }),
      ...(params.outputSchema && { outputSchema: params.outputSchema }),
    },
    also: (runId) => call.keep({ runId, wsId }),
  });
}

function toWaitResult(runId: string, { run: { startedMs } }: RunHandle, result: RunResult | undefined) {
  const started = startedMs !== undefined && { startedAt: startedMs };
  if (!result) return { runId, status: 'timeout' as const, ...started };
  const ended = { runId, ...started, endedAt: result.endedMs };
  const { status, error, output, output_errors: outputErrors } = result;
  if (status === 'ok') return { ...ended, status: 'ok' as const, ...(output !== undefined && { output }) };
  return { ...ended, status: 'error' as const, error: error ?? status, ...(outputErrors && { outputErrors }) };
}

/** The second answer. A failed run is an error that includes the result, and stays one for its key. */
function toAgentResult({ run_id: runId, status, summary, error, output, output_errors: outputErrors }: RunResult) {
  if (status === 'ok') {
    return { runId, status: 'ok' as const, summary: 'completed', ...(output !== undefined && { output }) };
  }
  const payload = { runId, status: 'error' as const, summary };
  if (outputErrors) throw new GatewayError('OUTPUT_MISMATCH', summary, { payload, details: { errors: outputErrors } });
  if (status === 'cancelled') throw new GatewayError('CONFLICT', 'The run was cancelled', { payload });
  throw new GatewayError(status === 'timeout' ? 'AGENT_TIMEOUT' : 'UNAVAILABLE', error ?? summary, {
    payload,
    retryable: false,
  });
}

async function inTime(
  { ended }: RunHandle,
  { timeoutMs, clock, signal }: { timeoutMs: number; clock: Clock; signal: AbortSignal },
): Promise<RunResult | undefined> {
  const over = new AbortController();
  const late = clock.sleep(timeoutMs, AbortSignal.any([over.signal, signal])).then(
    () => undefined,
    () => undefined, // the run ended, or the caller disconnected
  );
  try {
    return await Promise.race([ended, late]);
  } finally {
    over.abort();
  }
}
