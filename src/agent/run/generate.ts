import type { AnswerSpending } from '../../../protocol/events/answer-spending.ts';
import type { StatusRecord, StreamEvent } from '../../../protocol/stream-events.ts';
import { until } from '../../timing/until.ts';
import { readAttached } from '../attached-content.ts';
import { endedStep } from '../background/ended-step.ts';
import { memorySteps } from '../memory/memory-step.ts';
import type { AssistantMessage, Message } from '../message.ts';
import { schemaMessages } from '../output/output-step.ts';
import { beginAnew, messagesAfter, openTurn } from '../prefix/open-turn.ts';
import type { Prefix } from '../prefix/prefix.ts';
import type { Seen } from '../prefix/settle-trust.ts';
import { type Model, type ModelRequest, ProviderError, type Usage } from '../providers/model.ts';
import { microCostOf } from '../providers/prices/cost.ts';
import { skillStep } from '../skills/skill-step.ts';
import type { BatchCall } from './batch-call.ts';
import { type CollectedAnswer, collectAnswer, type Finish } from './collect-answer.ts';
import { LAST_ANSWER_TOKENS, usualTokensOf } from './limits/call-size.ts';
import { TurnBudget } from './limits/turn-budget.ts';
import { type Ahead, prepareAhead } from './prepare-ahead.ts';
import type { Step } from './recorder.ts';
import type { RunContext } from './run-context.ts';
import type { Spending } from './spending.ts';
import { steeredStep } from './steering.ts';
import { noteUsage } from './window/make-room.ts';
import { openAnswer } from './window/open-answer.ts';

/**
 * How a model turn ended. `partial` is what was shown before it broke off. `isBlocked`: a content filter of the
 * provider left nothing. `prepared`: its calls.
 */
export type Generated =
  | { kind: 'answered'; text: string; isBlocked?: true; prepared?: BatchCall[] }
  | { kind: 'broken'; error: unknown; partial: AssistantMessage | undefined };

/**
 * Requests one turn from the model, streams it into the log and records the complete answer. Throws BudgetUsedUp if the
 * turn may not be paid. `seen`: what was just seen of the machine.
 */
export async function generate(run: RunContext, seen?: Seen): Promise<Generated> {
  const budget = new TurnBudget(run);
  const takesOver = (next: Model) => budget.reserve({ model: next, isTakeOver: true });
  const model = await until(run.settings.model(takesOver), run.signal);
  const { newPrefix, notes } = await openTurn(run, model, seen);
  let used: Usage | undefined;
  try {
    const reserved = await budget.reserve({ model, newPrefix });
    const prefix = newPrefix ?? run.prefix();
    const ended = prefix && endedStep(await run.endedCommands(), { messages: run.messages, prefix });
    const schema = prefix ? schemaMessages(run, prefix) : [];
    const skills = prefix && (await skillStep(run, prefix));
    const memories = prefix ? await memorySteps(run, { prefix, isNew: newPrefix !== undefined }) : [];
    await recordCall(
      run,
      { notes, ended, schema, shown: [skills, ...memories] },
      { ...(newPrefix && { prefix: newPrefix }), ...reserved },
    );
    const ahead = prepareAhead(run);
    const answer = collectAnswer(run.recorder, ahead.take);
    const askedMs = run.clock.monotonic();
    try {
      const toRequest = async () => requestOf(run, { model, budget, prefix: await prefixFor(run, model) });
      const { request, parts } = await openAnswer(run, { model, budget, toRequest });
      for await (const part of parts) answer.take(part);
      run.signal.throwIfAborted();
      const { finish } = answer.whole(); // of this request; the continuation is another
      await continueCut(run, { model, request, answer, budget });
      const whole = counted(answer.whole(), budget);
      const durationMs = Math.round(run.clock.monotonic() - askedMs);
      const recorded = await recordAnswer(run, model, { ...whole, durationMs, ...(await ahead.whole(whole)) });
      used = whole.spent ?? whole.finish?.usage;
      noteUsage(run, { model, request }, finish);
      return recorded;
    } catch (error) {
      return { kind: 'broken', error, partial: answer.partial() };
    }
  } finally {
    budget.release(used);
  }
}

/** What people and the model hear before the next answer. */
interface Told {
  notes: readonly string[];
  ended: ReturnType<typeof endedStep> | undefined;
  schema: readonly Message[];
  /** Skills and memories. */
  shown: readonly (Pick<Required<Step>, 'events' | 'messages'> | undefined)[];
}

/** In one step with the messages that the model is to read from now on. */
const recordCall = (run: RunContext, { notes, ended, schema, shown }: Told, rest: Step): Promise<void> =>
  run.steering.handOver((waiting) => {
    const told = [...schema, ...(ended?.messages ?? []), ...shown.flatMap((step) => step?.messages ?? [])];
    const { runId } = run;
    const afterSeq = run.messageCount + told.length;
    const { events, messages, steered } = steeredStep({ runId, afterSeq, nowMs: run.clock.now() }, waiting);
    const all = [...told, ...messages];
    return run.recorder.record({
      ...rest,
      events: [
        ...(ended?.events ?? []),
        ...shown.flatMap((step) => step?.events ?? []),
        ...events,
        ...notes.map((message) => ({ type: 'info', message }) as const),
        { type: 'thinking_start' },
        { type: 'ws_state', ws_id: run.wsId, state: 'thinking' },
      ],
      journal: [{ kind: 'model_called', afterSeq: afterSeq + messages.length }],
      ...(all.length > 0 && { messages: all }),
      ...(steered.length > 0 && { steered }),
      ...(ended && ended.told.length > 0 && { told: ended.told }),
    });
  });

/** The prefix of the next request: a new one after a cut, and for a model of another family that takes over. */
async function prefixFor(run: RunContext, model: Model): Promise<Prefix> {
  const prefix = run.prefix();
  if (prefix?.family === model.family) return prefix;
  const begun = await beginAnew(run, model);
  const skills = await skillStep(run, begun);
  const messages = [...schemaMessages(run, begun), ...(skills?.messages ?? [])];
  if (messages.length > 0) await run.recorder.record({ messages });
  return begun;
}

async function requestOf(
  run: RunContext,
  {
    model: { maxOutputTokens: most = Number.POSITIVE_INFINITY },
    budget,
    prefix,
  }: { model: Model; budget: TurnBudget; prefix: Prefix },
): Promise<ModelRequest> {
  const { autoApprove, effort, sampling } = run.settings;
  const wanted = Math.min(sampling.maxOutputTokens ?? most, budget.isLast ? LAST_ANSWER_TOKENS : most, most);
  const earlierCalls = await run.earlierCalls();
  const isLimited = budget.isLast || sampling.maxOutputTokens !== undefined;
  return {
    system: prefix.system,
    messages: messagesAfter(prefix, run.messages),
    ...(earlierCalls && { earlierCalls }),
    ...(run.callIdSuffix !== undefined && { callIdSuffix: run.callIdSuffix }),
    attachments: await readAttached(run.messages, run.readAttachment),
    tools: prefix.tools,
    effort,
    typedByPerson: run.source === 'person',
    conversation: prefix.version,
    mayPause: run.source !== 'person' || !autoApprove,
    ...(sampling.temperature !== undefined && { temperature: sampling.temperature }),
    ...(isLimited && { maxOutputTokens: wanted }),
  };
}

type Collecting = ReturnType<typeof collectAnswer>;

/** Asks once for the rest of a text that reached the output limit. If that fails at once, the text stays as it is. */
async function continueCut(
  run: RunContext,
  { model, request, answer, budget }: { model: Model; request: ModelRequest; answer: Collecting; budget: TurnBudget },
): Promise<void> {
  const soFar = answer.continueCut((used) => budget.covers(used));
  if (!soFar) return;
  try {
    const messages = [...request.messages, soFar];
    for await (const part of model.stream({ ...request, messages }, run.signal)) answer.take(part);
  } catch (error) {
    if (!(error instanceof ProviderError) || answer.isContinued()) throw error;
    run.log.warn({ err: error, runId: run.runId, wsId: run.wsId }, 'an answer that was cut off could not be continued');
  }
  run.signal.throwIfAborted();
}

interface CountedAnswer extends CollectedAnswer {
  /** The server reports no usage, so `spent` is an estimate. */
  isEstimated?: true;
}

/** Some servers report no usage. For a budget it is then estimated. */
function counted(answer: CollectedAnswer, { expected }: TurnBudget): CountedAnswer {
  const { promptTokens = 0, completionTokens = 0 } = answer.finish?.usage ?? {};
  if (!expected || promptTokens + completionTokens > 0) return answer;
  const spent = { ...expected, completionTokens: usualTokensOf(answer.message) };
  return { ...answer, spent, isEstimated: true };
}

type TimedAnswer = CountedAnswer & { durationMs: number };

async function recordAnswer(run: RunContext, model: Model, answer: TimedAnswer & Ahead): Promise<Generated> {
  const { message, finish, cut, spent, isEstimated, spoke, prepared, cleared } = answer;
  const { provider, modelId, price } = model;
  const usage = finish?.usage ?? { promptTokens: 0, completionTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 };
  const contextWindow = run.window.windows.of(model).size;
  const took = spendingOf(answer, { usage, model });
  const stored: AssistantMessage = { ...message, ...(cut && { partial: true }), spent: took };
  const events: StreamEvent[] = [
    ...(spoke ? [] : [{ type: 'thinking_stop' } as const]),
    { type: 'stream_end', created_ms: run.clock.now(), spent: took },
    {
      type: 'status',
      ...statusOf(usage, contextWindow, run.settings.effort),
      tool_calls_this_turn: stored.toolCalls.length,
      turn_count: run.progress.turns,
    },
    ...warningsOf(finish).map((message) => ({ type: 'error', message }) as const),
    ...cleared.events,
  ];
  await run.recorder.record({
    events,
    messages: [stored],
    journal: [{ kind: 'model_answered', calls: stored.toolCalls, ...(cut && { cut }) }, ...cleared.journal],
    usage: {
      usage,
      contextWindow,
      afterSeq: run.messageCount + 1,
      ...(spent && { spent }),
      ...(isEstimated && { isEstimated }),
      ...droppedBy(run, finish),
      model: { provider, modelId, ...(price && { price }) },
    },
  });
  const isEmpty = stored.content === '' && stored.toolCalls.length === 0;
  const blocked = isEmpty && finish?.reason === 'content_filter' ? { isBlocked: true as const } : {};
  return { kind: 'answered', text: stored.content, ...blocked, ...(prepared && { prepared }) };
}

/** What the answer took, as people see it. */
function spendingOf({ spent, isEstimated, durationMs }: TimedAnswer, { usage, model }: Spending): AnswerSpending {
  const all = spent ?? usage;
  return {
    model: `${model.provider}/${model.modelId}`,
    input_tokens: all.promptTokens,
    cache_read_tokens: all.cacheReadTokens,
    cache_write_tokens: all.cacheCreationTokens,
    output_tokens: all.completionTokens,
    ...(model.price && { cost_usd: microCostOf(all, model.price, usage.promptTokens) / 1_000_000 }),
    ...(isEstimated && { is_estimated: true }),
    duration_ms: durationMs,
  };
}

/** Reports thoughts that the server left out. */
function droppedBy({ wsId, runId, log }: RunContext, finish: Finish | undefined): { droppedThoughts?: number } {
  const { droppedThoughts } = finish ?? {};
  if (!droppedThoughts) return {};
  log.warn({ wsId, runId, dropped: droppedThoughts }, 'the provider dropped thoughts of the conversation');
  return { droppedThoughts };
}

function warningsOf(finish: Finish | undefined): string[] {
  const warnings = finish?.warning === undefined ? [] : [finish.warning];
  if (finish?.reason === 'content_filter') warnings.push('Warning: the provider’s content filter ended the answer.');
  return warnings;
}

/** Token use relative to the context window; `pct` has one decimal and is 0 when the window is unknown. */
export function statusOf(usage: Usage, contextWindow: number, effort: StatusRecord['effort']): StatusRecord {
  const total = usage.promptTokens + usage.completionTokens;
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: total,
    context_window: contextWindow,
    pct: contextWindow === 0 ? 0 : Math.round((total / contextWindow) * 1000) / 10,
    effort,
    cache_creation_tokens: usage.cacheCreationTokens,
    cache_read_tokens: usage.cacheReadTokens,
  };
}
