import { findCrowded } from '../../attached-content.ts';
import { type Model, type ModelPart, type ModelRequest, ProviderError } from '../../providers/model.ts';
import { BudgetUsedUp } from '../limits/budget-used-up.ts';
import { sizeOf } from '../limits/call-size.ts';
import type { TurnBudget } from '../limits/turn-budget.ts';
import type { RunContext } from '../run-context.ts';
import type { ModelWindow } from './model-windows.ts';
import { type PlannedCut, planCompaction, planPrune, planRefusedImages, planUnbound, planUnseen } from './plan-cut.ts';
import { findRefusedTurn, isUnexplained } from './remedies.ts';
import type { NumberedMessage, SummaryAccount } from './run-window.ts';
import { reportSummary, type SummaryReport } from './summary-report.ts';
import { bytesOfMessages, bytesOfPreamble, hasImages } from './token-count.ts';

/** From this share of the window on, the context is cut. */
const FULL = 0.8;
/** A cut that leaves more than this would soon be followed by the next one. */
const ENOUGH = 0.6;

type Finish = Extract<ModelPart, { type: 'finish' }>;

/** A request to a model. */
export interface Asking {
  model: Model;
  request: ModelRequest;
  budget: TurnBudget;
}

type Counted = Pick<Asking, 'model' | 'request'>;
type Run = Pick<
  RunContext,
  'recorder' | 'window' | 'signal' | 'messages' | 'messageCount' | 'progress' | 'log' | 'wsId'
>;

/** The size of a request in tokens: as counted with the last answer, plus an estimate of everything since. */
function countTokens(run: Run, { model, request }: Counted): number {
  const { bytesPerToken } = run.window.windows.of(model);
  const last = run.window.lastCount();
  if (!last) return Math.ceil((bytesOfPreamble(request) + bytesOfMessages(run.messages)) / bytesPerToken);
  const since = run.messages.slice(Math.max(0, run.messages.length - (run.messageCount - last.afterSeq)));
  return last.tokens + Math.ceil(bytesOfMessages(since) / bytesPerToken);
}

/** Learns from the usage of an answer how long texts are in tokens. What an image counts differs too much to learn from it. */
export function noteUsage(run: Run, { model, request }: Counted, finish: Finish | undefined): void {
  if (!finish || hasImages(request.messages)) return;
  const bytes = bytesOfPreamble(request) + bytesOfMessages(request.messages);
  run.window.windows.noteUsage(model, { usage: finish.usage, bytes });
}

/** Makes room if the request fills most of the window. True if the context has changed, so that the request is outdated. */
export async function makeRoomEarly(run: Run, asking: Asking): Promise<boolean> {
  const { size } = run.window.windows.of(asking.model);
  if (size === 0 || countTokens(run, asking) < size * FULL) return false;
  const account = accountOf(run, asking.budget);
  let hasChanged = true; // outputs may have been taken out even if it fails
  try {
    hasChanged = await cut(run, asking, { plans: [prune, compact], account });
  } catch (error) {
    if (!(error instanceof ProviderError) && !(error instanceof BudgetUsedUp)) throw error;
    run.log.warn({ err: error, wsId: run.wsId }, 'a conversation could not be summarized; it goes on as it is');
  }
  return (await account.restore(asking.model)) || hasChanged;
}

/**
 * Makes room after the upstream refused a request as too long, or because of reasoning or images in it, or of what the
 * turn before this one left. False if nothing is left to cut, or for other errors.
 */
export async function makeRoomAfter(error: unknown, run: Run, asking: Asking): Promise<boolean> {
  const refusal = error instanceof ProviderError ? error.refusal : undefined;
  if (refusal?.about === 'binding') return (await unbind(run)) || makeRoom(run, asking, [compactAll]);
  if (refusal?.about === 'image') return leaveRefusedImages(run, asking.model);
  if (isUnexplained(error)) return leaveRefusedTurn(run, asking);
  if (refusal?.about !== 'window') return false;
  const bytes = bytesOfPreamble(asking.request) + bytesOfMessages(run.messages);
  const tokens = countTokens(run, asking);
  run.window.windows.noteOverflow(asking.model, refusal, { tokens, bytes });
  return makeRoom(run, asking, [prune, compact, pruneAll]);
}

/** Lets attachments leave the request if it has no room for all of them. True if the context has changed. */
export async function leaveAttachments(run: Run): Promise<boolean> {
  if (findCrowded(run.messages) === undefined) return false;
  const planned = planUnseen(await run.window.read());
  if (planned) await run.recorder.record(planned);
  return planned !== undefined;
}

/** Lets images leave the request that its server accepted before and now refuses. False if there are none. */
async function leaveRefusedImages(run: Run, { modelId }: Model): Promise<boolean> {
  const planned = planRefusedImages(await run.window.read(), modelId);
  if (planned) await run.recorder.record(planned);
  return planned !== undefined;
}

/** Leaves reasoning out that its provider no longer accepts. False if there is none. */
async function unbind(run: Run): Promise<boolean> {
  const planned = planUnbound(await run.window.read());
  if (planned) await run.recorder.record(planned);
  return planned !== undefined;
}

/**
 * A turn that the upstream refused in its middle would be refused with every further message. False if this is another
 * case, or if the model summarizes nothing either: then the conversation is not the reason.
 */
async function leaveRefusedTurn(run: Run, asking: Asking): Promise<boolean> {
  if (run.progress.turns > 1 || !findRefusedTurn(run.messages)) return false;
  try {
    return await makeRoom(run, asking, [compactRefused]);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    run.log.warn({ err: error, wsId: run.wsId }, 'a turn that was refused could not be summarized');
    return false;
  }
}

async function makeRoom(run: Run, asking: Asking, plans: readonly Plan[]): Promise<boolean> {
  const account = accountOf(run, asking.budget);
  const hasChanged = await cut(run, asking, { plans, account });
  await account.restore(asking.model);
  return hasChanged;
}

/** One step after the other, until the request fits well. */
async function cut(
  run: Run,
  { model, request }: Asking,
  { plans, account }: { plans: readonly Plan[]; account: SummaryAccount },
): Promise<boolean> {
  let hasChanged = false;
  const window = run.window.windows.of(model);
  for (const plan of plans) {
    if (!(await follow(plan, { run, request, window, account }))) continue;
    hasChanged = true;
    if (countTokens(run, { model, request }) <= window.size * ENOUGH) break;
  }
  return hasChanged;
}

/** False if there is nothing to cut this way. */
async function follow(plan: Plan, planning: Omit<Planning, 'report'>): Promise<boolean> {
  const { window, recorder } = planning.run;
  const report = reportSummary('auto', window.onSummary);
  try {
    const planned = await plan(await window.read(), { ...planning, report });
    if (planned) await recorder.record(planned);
    return planned !== undefined;
  } catch (error) {
    report.failed(error);
    throw error;
  }
}

interface RunAccount extends SummaryAccount {
  /** Reserves the call again for which room was made, if a summary took its place. */
  restore(model: Model): Promise<boolean>;
}

/** Each request for a summary is reserved in place of the call for which room is made. */
function accountOf(run: Run, budget: TurnBudget): RunAccount {
  let isUsed = false;
  return {
    async begin(model, { messages, system }) {
      isUsed = true;
      const step = await budget.reserve({
        model,
        size: sizeOf(messages, model, Buffer.byteLength(system)),
        isSummary: true,
      });
      if (step.reserved) await run.recorder.record(step);
    },
    async end(summarized) {
      await run.recorder.record({ summarized });
      budget.release(undefined);
    },
    async restore(model) {
      if (!isUsed) return false;
      const step = await budget.reserve({ model });
      if (step.reserved) await run.recorder.record(step);
      return true;
    },
  };
}

interface Planning {
  run: Run;
  request: ModelRequest;
  window: ModelWindow;
  account: SummaryAccount;
  report: SummaryReport;
}

type Plan = (stored: NumberedMessage[], planning: Planning) => Promise<PlannedCut | undefined>;

const prune: Plan = async (stored) => planPrune(stored, { all: false });
/** Even the newest outputs, which a model may have requested all at once. */
const pruneAll: Plan = async (stored) => planPrune(stored, { all: true });
const compact: Plan = async (stored, planning) =>
  planCompaction(stored, { ...(await compactingOf(planning)), sent: planning.request });
/** Answers whose reasoning is refused must not be sent again, nor the results of their calls. */
const compactAll: Plan = async (stored, planning) =>
  planCompaction(stored, { ...(await compactingOf(planning)), all: true });

/** Without the outputs of the turn that was refused. */
const compactRefused: Plan = async (stored, planning) =>
  planCompaction(withoutRefused(stored), { ...(await compactingOf(planning)), isRefused: true });

function withoutRefused(stored: readonly NumberedMessage[]): NumberedMessage[] {
  const refused = findRefusedTurn(stored.map(({ message }) => message));
  return stored.map(({ seq, message }, index) => {
    const isIn = refused && index >= refused.from && index <= refused.to;
    return { seq, message: isIn && message.role === 'tool' ? { ...message, output: REFUSED_OUTPUT } : message };
  });
}

const REFUSED_OUTPUT = '[left out, because the model’s server refused this turn]';

const compactingOf = async ({ run, request, window, account, report }: Planning) => ({
  summarizer: await run.window.summarizer(account),
  window,
  report,
  preambleBytes: bytesOfPreamble(request),
  signal: run.signal,
});
