import { GatewayError } from '../../../protocol/errors.ts';
import type { DecidedBy, MessageFailure, RunOutcome, StreamEvent } from '../../../protocol/stream-events.ts';
import type { AssistantMessage } from '../message.ts';
import { ProviderError } from '../providers/model.ts';
import { StopReason } from '../stop-reason.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { runBatch } from './batch.ts';
import { generate } from './generate.ts';
import { openCalls, pendingApproval } from './journal.ts';
import { recordAtLast } from './record-at-last.ts';
import { RunSuperseded, type Step } from './recorder.ts';
import { resultStep, type ToolResult } from './result-step.ts';
import { CANCELLED_BY_USER, RUN_HAD_ENDED, unknownSince } from './result-texts.ts';
import type { RunContext } from './run-context.ts';

/** A run that has not come to an end after this many model turns is going round in circles. */
const MAX_TURNS = 200;
/** A turn that was cut off by crashes is asked again at most twice. */
const MAX_ATTEMPTS = 3;
const MAX_REFUSALS = 5;

/**
 * Takes a run from wherever its journal says it is to its end. Resolves `ended` with its one terminal record written,
 * `suspended` when the daemon shuts down (a restart continues), `superseded` when it was taken away. Never rejects.
 */
export async function runToEnd(run: RunContext): Promise<'ended' | 'suspended' | 'superseded'> {
  try {
    await end(run, await endingOf(run));
    return 'ended';
  } catch (error) {
    if (error instanceof RunSuperseded) return 'superseded';
    if (run.stopping.aborted || stopOf(run)?.kind === 'shutdown') return suspend(run);
    run.log.error({ err: error, runId: run.runId }, 'the end of a run could not be recorded; a restart will');
    return 'suspended';
  }
}

/** Notes that the turn was put off in order. Without the note, when the store takes none, it counts as cut off by a crash. */
async function suspend(run: RunContext): Promise<'suspended'> {
  if (run.progress.phase === 'generating') {
    await run.recorder.record({ journal: [{ kind: 'suspended' }] }).catch((error: unknown) => {
      run.log.warn({ err: error, runId: run.runId }, 'that a run was put off could not be recorded');
    });
  }
  return 'suspended';
}

/** Works until there is an end to record. Rejects when there is none: the run was taken away, or goes on later. */
async function endingOf(run: RunContext): Promise<End> {
  try {
    const { summary, failed } = await converse(run);
    const outcome: RunOutcome = { run_id: run.runId, status: 'ok', ...(failed && { failed }) };
    return { outcome, summary, events: [], state: 'idle' };
  } catch (thrown) {
    const broken = thrown instanceof TurnBroken ? thrown : undefined;
    const error = broken?.cause ?? thrown;
    const stop = stopOf(run);
    if (error instanceof RunSuperseded || stop?.kind === 'shutdown') throw error;
    const ending = badEnd(run, error, stop);
    const failed = failureOf(run, { ending, error, stop, partial: broken?.partial });
    return {
      ...ending,
      outcome: { ...ending.outcome, ...(failed && { failed }) },
      ...(broken?.partial && { partial: broken.partial }),
    };
  }
}

const stopOf = ({ signal }: Pick<RunContext, 'signal'>): StopReason | undefined =>
  signal.aborted && signal.reason instanceof StopReason ? signal.reason : undefined;

/** The partial answer of a turn that broke off, beside what broke it. */
class TurnBroken extends Error {
  override readonly name = 'TurnBroken';
  readonly partial: AssistantMessage | undefined;

  constructor(cause: unknown, partial: AssistantMessage | undefined) {
    super('the turn broke off', { cause });
    this.partial = partial;
  }
}

/** Turns until the model asks for nothing more; returns its last words. */
async function converse(run: RunContext): Promise<{ summary: string; failed?: MessageFailure }> {
  if (run.progress.attempts >= MAX_ATTEMPTS) throw new GatewayError('UNAVAILABLE', INTERRUPTED_TOO_OFTEN);
  if (run.progress.phase === 'batch') {
    if (run.progress.calls.length === 0) return { summary: lastWords(run) };
    await runBatch(run);
  }
  while (run.progress.turns < MAX_TURNS) {
    run.signal.throwIfAborted();
    await run.settings.workdir.check(); // also after the last calls: what they printed may be of another folder
    const turn = await generate(run);
    if (turn.kind === 'broken') throw new TurnBroken(turn.error, turn.partial);
    if (turn.calls.length === 0) {
      const isRefused = turn.isBlocked && run.progress.turns === 1;
      return { summary: turn.text, ...(isRefused && { failed: { code: 'content_filter', text: BLOCKED } }) };
    }
    run.signal.throwIfAborted();
    await runBatch(run);
  }
  throw new GatewayError('UNAVAILABLE', `The run was ended after ${MAX_TURNS} model turns.`);
}

const BLOCKED = 'The provider’s content filter left no answer.';
const INTERRUPTED_TOO_OFTEN =
  'The answer was interrupted three times by crashes of the daemon. Send the message again.';

function lastWords(run: RunContext): string {
  const last = run.messages.at(-1);
  return last?.role === 'assistant' ? last.content : '';
}

function badEnd(run: RunContext, error: unknown, stop: StopReason | undefined): End {
  if (stop?.kind === 'cancel') {
    const outcome: RunOutcome = { run_id: run.runId, status: 'cancelled' };
    return { outcome, summary: 'cancelled', events: [{ type: 'cancelled' }, { type: 'stream_end' }], state: 'idle' };
  }
  const message = stop?.message ?? messageOf(run, error);
  const outcome: RunOutcome = {
    run_id: run.runId,
    status: stop?.kind === 'timeout' ? 'timeout' : 'error',
    error: message,
  };
  const events: StreamEvent[] = [{ type: 'error', message: `Error: ${message}` }, { type: 'stream_end' }];
  return { outcome, summary: message, events, state: 'error' };
}

function messageOf(run: RunContext, error: unknown): string {
  if (error instanceof ProviderError || error instanceof GatewayError) return error.message;
  run.log.error({ err: error, runId: run.runId, wsId: run.wsId }, 'a run failed unexpectedly');
  return 'Internal error (the daemon’s log says more)';
}

/**
 * The failure that the message of a run is marked with: it got no answer, and nobody had cancelled it. A person who
 * cancels mostly goes on with a further message that adds to the first.
 */
function failureOf(
  { progress }: RunContext,
  {
    ending,
    error,
    stop,
    partial,
  }: { ending: End; error: unknown; stop: StopReason | undefined; partial?: AssistantMessage | undefined },
): MessageFailure | undefined {
  const isFirst = progress.phase === 'started' || (progress.phase === 'generating' && progress.turns === 1);
  if (!isFirst || (partial && partial.content !== '') || stop?.kind === 'cancel') return undefined;
  if (stop?.kind === 'timeout') return { code: 'timeout', text: ending.summary };
  return { code: error instanceof ProviderError ? error.kind : 'internal', text: ending.summary };
}

interface End {
  outcome: RunOutcome;
  summary: string;
  events: StreamEvent[];
  state: 'idle' | 'error';
  partial?: AssistantMessage;
}

/**
 * The one terminal record. While the store takes no writes the run stays busy and tries again: an end that nobody
 * can read is not an end.
 */
async function end(run: RunContext, ending: End): Promise<void> {
  let refusals = 0;
  let isDamaged = false;
  for (;;) {
    try {
      return await recordAtLast(run, () => endStep(run, ending, isDamaged));
    } catch (error) {
      if (error instanceof RunSuperseded || run.stopping.aborted) throw error;
      isDamaged = error instanceof GatewayError; // the conversation takes nothing more; the end has to be on record
      // Something was settled a moment ago, and the next step leaves it out; a store that refuses for ever does not count.
      if (++refusals === MAX_REFUSALS) throw error;
    }
  }
}

function endStep(run: RunContext, { outcome: whole, summary, events, state, partial }: End, isDamaged: boolean): Step {
  const { failed, ...plain } = whole;
  const outcome: RunOutcome = failed && !isDamaged ? whole : plain;
  const left = leftovers(run, outcome);
  return {
    events: [...(left.events ?? []), ...events, { type: 'ws_state', ws_id: run.wsId, state, run: outcome }],
    messages: isDamaged ? [] : [...(partial ? [partial] : []), ...(left.messages ?? [])],
    journal: [...(left.journal ?? []), { kind: 'ended', status: outcome.status }],
    ...(left.settled && { settled: left.settled }),
    ended: { ...outcome, summary },
  };
}

/**
 * What a run that ends early leaves open: a question nobody has to answer any more, calls that get no result. `signal`
 * says who cancelled it.
 */
export function leftovers({ progress, signal }: Pick<RunContext, 'progress' | 'signal'>, outcome: RunOutcome): Step {
  const isCancelled = outcome.status === 'cancelled';
  const why = isCancelled && stopOf({ signal })?.isByUser === true ? CANCELLED_BY_USER : RUN_HAD_ENDED;
  const unrun: ToolOutcome = { output: why, outcome: 'cancelled' };
  const asked = pendingApproval(progress);
  const results = openCalls(progress).map((call): ToolResult => {
    const started = progress.tools.get(call.id)?.state === 'started';
    return { call, result: started ? { output: unknownSince(why), outcome: 'unknown' } : unrun };
  });
  const step = resultStep(results);
  if (!asked) return step;
  const by: DecidedBy = { kind: isCancelled ? 'cancel' : 'shutdown' };
  const { approvalId, digests } = asked;
  const resolved: StreamEvent = {
    type: 'approval_resolved',
    approval_id: approvalId,
    approved: false,
    feedback: why,
    by,
    always: false,
    call_ids: Object.keys(digests),
  };
  return {
    ...step,
    events: [resolved, ...(step.events ?? [])],
    settled: { approvalId, status: 'cancelled', by, feedback: why, always: false },
  };
}
