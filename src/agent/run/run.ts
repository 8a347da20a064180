import { GatewayError } from '../../../protocol/errors.ts';
import type { MessageFailure, OutputError, RunLimit, RunOutcome } from '../../../protocol/run-outcome.ts';
import type { DecidedBy, StreamEvent } from '../../../protocol/stream-events.ts';
import { lastAnswer, saidIn, wordsWithCalls } from '../last-words.ts';
import type { AssistantMessage } from '../message.ts';
import { settleTrust } from '../prefix/settle-trust.ts';
import { ProviderError } from '../providers/model.ts';
import { isAway } from '../providers/retrying/retry.ts';
import { StopReason } from '../stop-reason.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { refuseCutBatch, runBatch } from './batch.ts';
import type { BatchCall } from './batch-call.ts';
import { generate } from './generate.ts';
import { openCalls, pendingApproval } from './journal.ts';
import { BudgetUsedUp } from './limits/budget-used-up.ts';
import { hasNoTurnLeft, limitText } from './limits/wrap-up.ts';
import { recordAtLast } from './record-at-last.ts';
import { RunSuperseded, type Step } from './recorder.ts';
import { resultStep, type ToolResult } from './result-step.ts';
import { CANCELLED_BY_USER, RUN_HAD_ENDED, unknownSince } from './result-texts.ts';
import type { RunContext } from './run-context.ts';
import { misfitText, settleOutput } from './settle-output.ts';

/** A turn that was interrupted by crashes is retried at most twice. */
const MAX_ATTEMPTS = 3;
const MAX_REFUSALS = 5;

/**
 * Takes a run from its journaled state to its end. Resolves `ended` once the final record is written, `suspended` when
 * the daemon shuts down (a restart continues the run), `superseded` when the run was taken away. Never rejects.
 */
export async function runToEnd(run: RunContext): Promise<'ended' | 'suspended' | 'superseded'> {
  try {
    const ending = await endingOf(run);
    await run.checkpoint.ended();
    await end(run, ending);
    return 'ended';
  } catch (error) {
    if (error instanceof RunSuperseded) return 'superseded';
    if (run.stopping.aborted || stopOf(run)?.kind === 'shutdown') return suspend(run);
    run.log.error(
      { err: error, runId: run.runId },
      'the end of a run could not be recorded; the next start will record it',
    );
    return 'suspended';
  }
}

/** Records that the turn was suspended. Without the record, the turn counts as interrupted by a crash. */
async function suspend(run: RunContext): Promise<'suspended'> {
  if (run.progress.phase === 'generating') {
    await run.recorder.record({ journal: [{ kind: 'suspended' }] }).catch((error: unknown) => {
      run.log.warn({ err: error, runId: run.runId }, 'the suspension of a run could not be recorded');
    });
  }
  return 'suspended';
}

/** Works until there is an end to record. Rejects when the run was superseded, or continues after a restart. */
async function endingOf(run: RunContext): Promise<End> {
  try {
    return toEnd(run, await converse(run));
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

function toEnd(run: RunContext, conclusion: Conclusion): End {
  switch (conclusion.kind) {
    case 'done': {
      const { summary, failed, settled } = conclusion;
      const data = settled && { output: settled.output };
      const outcome: RunOutcome = { run_id: run.runId, status: 'ok', ...(failed && { failed }), ...data };
      return { outcome, summary, events: [], state: 'idle' };
    }
    case 'cut': {
      const outcome: RunOutcome = { run_id: run.runId, status: 'incomplete', error: INCOMPLETE };
      return { outcome, summary: INCOMPLETE, events: [{ type: 'error', message: INCOMPLETE }], state: 'idle' };
    }
    case 'misfit': {
      const { errors, failed } = conclusion;
      const error = misfitText(errors);
      const plain: RunOutcome = { run_id: run.runId, status: 'error', error, output_errors: errors };
      const outcome: RunOutcome = { ...plain, ...(failed && { failed }) };
      return { outcome, summary: error, events: errorEvents(run, error), state: 'error' };
    }
    case 'limit': {
      const { limit, reason: error = limitText(limit, run.limits) } = conclusion;
      const status = limit === 'time' ? 'timeout' : 'error';
      const outcome: RunOutcome = { run_id: run.runId, status, error, limit };
      return { outcome, summary: error, events: errorEvents(run, error), state: 'error' };
    }
  }
}

const stopOf = ({ signal }: Pick<RunContext, 'signal'>): StopReason | undefined =>
  signal.aborted && signal.reason instanceof StopReason ? signal.reason : undefined;

/** A turn that broke off: its partial answer and the cause. */
class TurnBroken extends Error {
  override readonly name = 'TurnBroken';
  readonly partial: AssistantMessage | undefined;

  constructor(cause: unknown, partial: AssistantMessage | undefined) {
    super('the turn broke off', { cause });
    this.partial = partial;
  }
}

/** Why a run needs no further turn. */
type Conclusion =
  | { kind: 'done'; summary: string; failed?: MessageFailure; settled?: { output: unknown } }
  | { kind: 'misfit'; errors: OutputError[]; failed?: MessageFailure }
  | { kind: 'cut' }
  | { kind: 'limit'; limit: RunLimit; reason?: string };

/** Runs turns until the model makes no more calls, or no more are allowed. */
async function converse(run: RunContext): Promise<Conclusion> {
  if (run.progress.attempts >= MAX_ATTEMPTS) throw new GatewayError('UNAVAILABLE', INTERRUPTED_TOO_OFTEN);
  if (run.progress.phase === 'batch') {
    const conclusion = await finishTurn(run, { text: lastAnswer(run.messages) });
    if (conclusion) return conclusion;
  }
  let seen = run.progress.turns === 0 ? await settleTrust(run) : undefined;
  while (!hasNoTurnLeft(run)) {
    run.signal.throwIfAborted();
    await run.settings.workdir.check(); // also after the last calls: their output may come from another folder
    const turn = await generate(run, seen);
    seen = undefined;
    if (turn.kind === 'broken') throw new TurnBroken(turn.error, turn.partial);
    const conclusion = await finishTurn(run, turn);
    if (conclusion) return conclusion;
  }
  return { kind: 'limit', limit: 'turns' };
}

/** Runs the calls of an answer. Returns a conclusion if the model is not asked again. */
async function finishTurn(
  run: RunContext,
  { text, isBlocked, prepared }: { text: string; isBlocked?: true; prepared?: BatchCall[] },
): Promise<Conclusion | undefined> {
  const { cut, previousCut, calls, wrapUp } = run.progress;
  if (wrapUp?.isAnswered) return { kind: 'limit', limit: wrapUp.limit, ...wrapUp.declined };
  // A cut batch of calls is continued by the next turn, and a cut text already was.
  if (cut && (calls.length === 0 || cut === 'again' || previousCut)) return { kind: 'cut' };
  if (calls.length === 0) return conclude(run, { text, isBlocked: isBlocked === true });
  run.signal.throwIfAborted();
  await (cut ? refuseCutBatch(run) : runBatch(run, prepared));
  return undefined;
}

/** The last answer. Undefined if it does not fit the schema of the request and the model is asked again. */
async function conclude(
  run: RunContext,
  { text, isBlocked }: { text: string; isBlocked: boolean },
): Promise<Conclusion | undefined> {
  const isRefused = isBlocked && run.progress.turns === 1;
  const failure = isRefused && { failed: { code: 'content_filter' as const, text: BLOCKED } };
  const isSilent = text.trim() === '' && !isBlocked;
  if (!run.output) return { kind: 'done', summary: isSilent ? wordsWithCalls(run.messages) : text, ...failure };
  if (isBlocked) return { kind: 'misfit', errors: [{ path: '', message: BLOCKED }], ...failure };
  const settled = await settleOutput(run, run.output, text);
  if (settled === undefined) return undefined;
  return settled.fits ? { kind: 'done', summary: text, settled } : { kind: 'misfit', errors: settled.errors };
}

const INCOMPLETE = 'The answer is incomplete: it was cut off at the model’s output limit.';
const BLOCKED = 'The provider’s content filter removed the answer.';
const INTERRUPTED_TOO_OFTEN =
  'The answer was interrupted three times by crashes of the daemon. Send the message again.';

function badEnd(run: RunContext, error: unknown, stop: StopReason | undefined): End {
  if (stop?.kind === 'cancel') {
    const outcome: RunOutcome = { run_id: run.runId, status: 'cancelled' };
    return { outcome, summary: 'cancelled', events: [{ type: 'cancelled' }, streamEnd(run)], state: 'idle' };
  }
  const message = stop?.message ?? messageOf(run, error);
  const outcome: RunOutcome = {
    run_id: run.runId,
    status: stop?.kind === 'timeout' ? 'timeout' : 'error',
    error: message,
    ...(error instanceof BudgetUsedUp && { limit: 'budget' }),
    ...(!stop && isAway(error) && { away: true }),
  };
  return { outcome, summary: message, events: errorEvents(run, message), state: 'error' };
}

const errorEvents = (run: RunContext, message: string): StreamEvent[] => [
  { type: 'error', message: `Error: ${message}` },
  streamEnd(run),
];

const streamEnd = ({ clock }: RunContext): StreamEvent => ({ type: 'stream_end', created_ms: clock.now() });

function messageOf(run: RunContext, error: unknown): string {
  const isExpected = [ProviderError, GatewayError, BudgetUsedUp].some((kind) => error instanceof kind);
  if (isExpected && error instanceof Error) return error.message;
  run.log.error({ err: error, runId: run.runId, wsId: run.wsId }, 'a run failed unexpectedly');
  return 'Internal error (see the daemon’s log)';
}

/**
 * The failure to mark the run's message with, if it got no answer and was not cancelled. After a cancel, people usually
 * send another message that adds to the first.
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
  return { code: codeOf(error), text: ending.summary };
}

function codeOf(error: unknown): MessageFailure['code'] {
  if (error instanceof BudgetUsedUp) return 'over_limit';
  return error instanceof ProviderError ? error.kind : 'internal';
}

interface End {
  outcome: RunOutcome;
  summary: string;
  events: StreamEvent[];
  state: 'idle' | 'error';
  partial?: AssistantMessage;
}

/**
 * Writes the final record. While the store cannot be written, the run stays busy and retries, because clients must be
 * able to read every end.
 */
async function end(run: RunContext, ending: End): Promise<void> {
  let refusals = 0;
  let isDamaged = false;
  for (;;) {
    try {
      return await recordAtLast(run, () => endStep(run, ending, isDamaged));
    } catch (error) {
      if (error instanceof RunSuperseded || run.stopping.aborted) throw error;
      isDamaged = error instanceof GatewayError; // the conversation cannot be extended, but the end must be recorded
      // Something was settled just before; the next step leaves it out. Gives up if the store keeps refusing.
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
    ended: { ...outcome, summary, ...(outcome.status !== 'ok' && saidIn(run.messages, partial)) },
  };
}

/**
 * Settles what a run left open when it ended early: a pending approval, and calls without a result. `signal` tells who
 * cancelled it.
 */
export function leftovers({ progress, signal }: Pick<RunContext, 'progress' | 'signal'>, outcome: RunOutcome): Step {
  const isCancelled = outcome.status === 'cancelled';
  const why = isCancelled && stopOf({ signal })?.isByUser === true ? CANCELLED_BY_USER : RUN_HAD_ENDED;
  const unrun: ToolOutcome = { output: why, outcome: 'cancelled' };
  const asked = pendingApproval(progress);
  const results = openCalls(progress).map((call): ToolResult => {
    const { state, returned } = progress.tools.get(call.id) ?? {};
    if (returned) return { call, ...returned, taint: returned.result.taint };
    return { call, result: state === 'started' ? { output: unknownSince(why), outcome: 'unknown' } : unrun };
  });
  const step = resultStep(results);
  if (!asked) return step;
  const by: DecidedBy = { kind: isCancelled ? 'cancel' : 'shutdown' };
  const { approvalId, digests, plan } = asked;
  const resolved: StreamEvent = {
    type: 'approval_resolved',
    approval_id: approvalId,
    approved: false,
    feedback: why,
    by,
    always: false,
    call_ids: Object.keys(digests),
    ...(plan && { plan: 'rejected' }),
  };
  return {
    ...step,
    events: [resolved, ...(step.events ?? [])],
    settled: { approvalId, status: 'cancelled', by, feedback: why, always: false },
  };
}
