import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import type { StoredCommand } from '../background/background-store.ts';
import { NO_HOOKS } from '../hooks/hooks-fixture.ts';
import type { Message, ToolCall } from '../message.ts';
import type { RunOutput } from '../output/asked-output.ts';
import { compileCallRules } from '../permissions/rules/compile-rules.ts';
import type { RuleSource as CallRule } from '../permissions/rules/rule-source.ts';
import type { Prefix } from '../prefix/prefix.ts';
import { beginningOf } from '../prefix/prefix-fixture.ts';
import type { Surroundings } from '../prefix/surroundings.ts';
import type { Model, ModelPart, ModelRequest, Usage } from '../providers/model.ts';
import type { Price } from '../providers/prices/price.ts';
import type { StopReason } from '../stop-reason.ts';
import { approvalDigest } from '../tools/approval-digest.ts';
import type { HeldFolder } from '../tools/files/held-folder.ts';
import { createApprovalExpiry } from './approval/approval-expiry.ts';
import { toPolicyFinder } from './approval/policy-rule.ts';
import { compileRules, type RuleSource } from './approval/tool-rules.ts';
import type { UnattendedPolicy } from './approval/unattended-policy.ts';
import { ALONE, type FakeTool, fakeToolbox, NO_CHECKPOINT, NO_FILES } from './fake-toolbox.ts';
import { advance, type Decision, type JournalEntry, newProgress, type Progress } from './journal.ts';
import { NO_BUDGET, type RunBudget } from './limits/run-budget.ts';
import { countedModel } from './model/counted-model.ts';
import type { Recorder, Step } from './recorder.ts';
import type { RunContext } from './run-context.ts';
import { decisionIn, type Waiting, withdrawIn } from './waiting-fixture.ts';
import { afterCut } from './window/after-cut.ts';
import { createModelWindows } from './window/model-windows.ts';
import type { ContextCount, NumberedMessage, RunWindow } from './window/run-window.ts';
import type { SummaryPhase } from './window/summary-report.ts';

export const USAGE: Usage = { promptTokens: 90, completionTokens: 10, cacheCreationTokens: 3, cacheReadTokens: 4 };

/** The tools in these tests are plain functions, so the folder need not exist. */
const WORK: HeldFolder = {
  ...{ path: '/work', ino: '7', fd: -1, way: '/work' },
  isInPlace: async () => true,
  [Symbol.asyncDispose]: async () => undefined,
};

/** A turn of the scripted model: its parts, or a function that produces them. */
export type Turn = ModelPart[] | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelPart>);

export interface FixtureOptions {
  turns?: Turn[];
  price?: Price;
  /** Answers every request, instead of `turns`. */
  answer?(request: ModelRequest): ModelPart[];
  tools?: Record<string, FakeTool>;
  /** The entries that are already recorded. */
  journal?: JournalEntry[];
  messages?: Message[];
  autoApprove?: boolean;
  policy?: UnattendedPolicy;
  /** May be changed by a test. */
  mode?: RunContext['settings']['mode'];
  /** Tools that auto-approve covers. */
  approvedTools?: readonly string[];
  /** Tool policies. Read at each use. */
  rules?: readonly RuleSource[];
  /** Permission rules. Read at each use. */
  callRules?: readonly CallRule[];
  onUsed?(ruleId: string): void;
  /** Why commands run without a sandbox. */
  notSandboxed?: string;
  judge?: RunContext['judge'];
  checkpoint?: RunContext['checkpoint'];
  hooks?: Partial<RunContext['hooks']>;
  isWatched?: boolean;
  isTimeShort?: boolean;
  budget?: RunBudget;
  output?: RunOutput;
  endedCommands?: readonly StoredCommand[];
  contextWindow?: number;
  /** The stored one. */
  prefix?: Prefix;
  templates?(): Promise<string>;
  sampling?: RunContext['settings']['sampling'];
  surroundings?: Surroundings;
  /** Called before each step; may throw like a failing store. */
  onRecord?(step: Step): void;
}

/** A run with an in-memory recorder, a scripted model and tools that are plain functions. */
export function runFixture(options: FixtureOptions = {}) {
  const progress = foldEntries(options.journal ?? [{ kind: 'started' }]);
  const messages: Message[] = options.messages ?? [{ role: 'user', content: 'hello' }];
  const stopping = new AbortController();
  const signal = new AbortController();
  const recorder = memoryRecorder({ progress, messages, onRecord: options.onRecord });
  const clock = fakeClock(1_000);
  const log = recordingLog();
  const requests: ModelRequest[] = [];
  const settings = settingsOf(options, requests);
  let [ids, secrets] = [0, 0];
  const waiting: Waiting = new Map();
  const run: RunContext = {
    ...{ wsId: 'ws-1', runId: 'run_1', source: 'person', messages },
    ...beginningOf(recorder.seen.steps, options),
    ...NO_FILES,
    get messageCount() {
      return recorder.stored.count;
    },
    earlierCalls: async () => undefined,
    window: windowOf(recorder, async (account) => ({ model: countedModel(await settings.model(), account) })),
    progress,
    recorder,
    steering: { handOver: (record) => record([]) },
    settings,
    ...{ toolbox: fakeToolbox(options.tools ?? {}), notSandboxed: options.notSandboxed },
    signal: signal.signal,
    stopping: stopping.signal,
    decision: (approvalId) => decisionIn(waiting, approvalId, signal.signal),
    withdraw: withdrawIn(waiting, progress),
    expiry: createApprovalExpiry({ policy: undefined, usualMs: 60_000, clock, log }),
    policy: options.policy,
    get rules() {
      return rulesIn(options);
    },
    checkpoint: options.checkpoint ?? NO_CHECKPOINT,
    get judge() {
      return options.judge;
    },
    hooks: { ...NO_HOOKS, ...options.hooks },
    isTimeShort: () => options.isTimeShort ?? false,
    ...{ budget: options.budget ?? NO_BUDGET, output: options.output, ...ALONE },
    endedCommands: async () => options.endedCommands ?? [],
    isWatched: () => options.isWatched ?? false,
    clock,
    ids: { wsId: () => 'ws', id: (prefix) => `${prefix}_${++ids}`, secret: () => `secret_${++secrets}` },
    log,
  };
  return {
    run,
    settings,
    clock,
    log,
    requests,
    stopping,
    ...recorder.seen,
    stop: (reason: StopReason) => signal.abort(reason),
    /** Waits for a question and answers it like the gateway, which records the decision first. */
    async answer(decision: Partial<Decision> = {}, approvalId = 'apr_1'): Promise<void> {
      while (!waiting.has(approvalId)) await new Promise(setImmediate);
      const whole = wholeDecision(decision);
      advance(progress, { kind: 'approval_decided', approvalId, decision: whole });
      waiting.get(approvalId)?.(whole);
    },
  };
}

function rulesIn({ rules = [], callRules = [], onUsed }: FixtureOptions): RunContext['rules'] {
  const compiled = compileCallRules(callRules, toPolicyFinder(compileRules(rules)));
  return { ...compiled, used: (rule) => onUsed?.(rule.ruleId) };
}

const settingsOf = (options: FixtureOptions, requests: ModelRequest[]) => ({
  workdir: { path: '/work', check: async () => ({ folder: WORK, readable: [] }) },
  autoApprove: options.autoApprove ?? false,
  get mode() {
    return options.mode ?? 'ask';
  },
  approvedTools: options.approvedTools ?? [],
  effort: 'medium' as const,
  sampling: options.sampling ?? {},
  model: async () => scriptedModel(options, requests),
});

type Memory = ReturnType<typeof memoryRecorder>;

const windowOf = ({ context, seen }: Memory, summarizer: RunWindow['summarizer']): RunWindow => ({
  windows: createModelWindows(),
  lastCount: () => context.count,
  lastWindow: () => context.window,
  read: async () => context.numbered,
  summarizer,
  onSummary: (phase) => void seen.phases.push(phase),
});

export function foldEntries(entries: readonly JournalEntry[]): Progress {
  const progress = newProgress();
  for (const entry of entries) advance(progress, entry);
  return progress;
}

/** The answer of a model as parts: text, then calls, then the finish. */
export function answerOf(text: string, calls: ToolCall[] = []): ModelPart[] {
  return [
    ...(text === '' ? [] : [{ type: 'content', text } as const]),
    ...calls.map((call) => ({ type: 'tool_call', call }) as const),
    { type: 'finish', reason: calls.length > 0 ? 'tool_calls' : 'stop', usage: USAGE },
  ];
}

export const callOf = (id: string, name = 'act', args = '{}'): ToolCall => ({ id, name, arguments: args });

/** The digest that an approval of the call is bound to, in the fixture's working directory. */
export const digestOf = (call: ToolCall, bindTo?: string): string =>
  approvalDigest({ tool: call.name, canonicalArguments: call.arguments, workdir: WORK, bindTo });

/** Journal entries of an approved batch, as a restart finds them. */
export function approvedBatch(calls: ToolCall[], decision: Partial<Decision> = {}): JournalEntry[] {
  return [...askedBatch(calls), { kind: 'approval_decided', approvalId: 'apr_0', decision: wholeDecision(decision) }];
}

const wholeDecision = (decision: Partial<Decision>): Decision => ({
  ...{ approved: true, feedback: '', always: false, by: { kind: 'principal', id: 'someone' } },
  ...decision,
});

/** Journal entries of a batch that waits for a person. */
export function askedBatch(calls: ToolCall[]): JournalEntry[] {
  const digests = Object.fromEntries(calls.map((call) => [call.id, digestOf(call)]));
  return [
    { kind: 'started' },
    { kind: 'model_called', afterSeq: 1 },
    { kind: 'model_answered', calls },
    { kind: 'approval_asked', approvalId: 'apr_0', question: 'tools', digests },
  ];
}

interface MemoryRecorder {
  progress: Progress;
  messages: Message[];
  onRecord: FixtureOptions['onRecord'];
}

function memoryRecorder({ progress, messages, onRecord }: MemoryRecorder) {
  const phases: SummaryPhase[] = [];
  const seen = { steps: [] as Step[], events: [] as StreamEvent[], journal: [] as JournalEntry[], messages, phases };
  const context: { count: ContextCount | undefined; numbered: NumberedMessage[]; window: number } = {
    count: undefined,
    window: 0,
    numbered: messages.map((message, index) => ({ seq: index + 1, message })),
  };
  const stored = { count: messages.length };
  const recorder: Recorder & { seen: typeof seen; context: typeof context; stored: typeof stored } = {
    seen,
    context,
    stored,
    async record(step) {
      onRecord?.(step);
      await new Promise(setImmediate);
      seen.steps.push(step);
      seen.events.push(...(step.events ?? []));
      seen.journal.push(...(step.journal ?? []));
      for (const entry of step.journal ?? []) advance(progress, entry);
      for (const message of step.messages ?? []) {
        messages.push(message);
        stored.count += 1;
        context.numbered.push({ seq: stored.count, message });
      }
      if (step.usage) Object.assign(context, countOf(step.usage));
      if (step.cut) {
        context.count = undefined;
        context.numbered = afterCut(context.numbered, step.cut);
        messages.splice(0, messages.length, ...context.numbered.map(({ message }) => message));
      }
    },
    emit: (event) => void seen.events.push(event),
  };
  return recorder;
}

function countOf({ usage, contextWindow, afterSeq }: NonNullable<Step['usage']>) {
  const tokens = usage.promptTokens + usage.completionTokens;
  return { window: contextWindow, ...(afterSeq !== undefined && { count: { tokens, afterSeq } }) };
}

function scriptedModel(options: FixtureOptions, requests: ModelRequest[]): Model {
  const { turns = [], answer, contextWindow = 1_000, price } = options;
  return {
    ...{ alias: 'scripted', provider: 'test', modelId: 'scripted', family: 'test' },
    fallback: [],
    contextWindow,
    ...(price && { price }),
    async *stream(request, signal) {
      requests.push({ ...request, messages: [...request.messages] });
      const turn = answer?.(request) ?? turns[requests.length - 1] ?? answerOf('done');
      yield* typeof turn === 'function' ? turn(request, signal) : turn;
    },
  };
}

/** Says one word, then waits until it is stopped. */
export const endless: Turn = async function* (_, signal) {
  yield { type: 'content', text: 'Hel' };
  await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
};

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

export const has = ({ events }: { events: StreamEvent[] }, type: StreamEvent['type']): boolean =>
  events.some((event) => event.type === type);
