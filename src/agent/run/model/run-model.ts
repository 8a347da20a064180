import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { type Model, type ModelPart, type ModelRequest, type Models, ProviderError } from '../../providers/model.ts';
import type { Progress } from '../journal.ts';
import type { Recorder, Step } from '../recorder.ts';
import type { TakesOver } from '../run-context.ts';
import type { SummaryAccount, SummaryModel } from '../window/run-window.ts';
import { countedModel } from './counted-model.ts';
import type { RunWaits } from './run-waits.ts';

interface RunModelDeps {
  models: Pick<Models, 'resolve'>;
  /** The workstream's model; undefined: the default one. */
  chosen(): string | undefined;
  progress: Progress;
  recorder: Recorder;
  waits: RunWaits;
  clock: Clock;
  log: Log;
}

/** A chain of models, the next of which answers if the one before cannot. */
interface Chain extends Pick<RunModelDeps, 'models' | 'recorder' | 'waits' | 'clock' | 'log'> {
  /** Whether the model understands the request. */
  fits(next: Model, active: Model): boolean;
  /** Its requests begin no conversation, so models of all families get the same one. */
  isSelfContained?: true;
  /** What it takes over, for people. */
  work: string;
  /** What else is recorded then. */
  takeOver(next: Model): Promise<Step>;
}

/**
 * The model of one run. Its waits are shown to clients. If it cannot answer, the next of its `fallback` answers for the
 * rest of the run: any model at the run's first request, later only one of the same family, because others do not
 * understand the reasoning in the turn. The first request to another family rejects with `FamilyChanged`.
 */
export function createRunModel({
  models,
  chosen,
  progress,
  recorder,
  waits,
  clock,
  log,
}: RunModelDeps): (takesOver: TakesOver) => Promise<Model> {
  return async (takesOver) => {
    const chain: Chain = {
      models,
      recorder,
      waits,
      clock,
      log,
      fits: (next, active) => progress.turns <= 1 || next.family === active.family,
      work: 'takes over for this run',
      takeOver: async (next) => ({ journal: [{ kind: 'fell_back', model: next.alias }], ...(await takesOver(next)) }),
    };
    const first = await models.resolve(chosen());
    const { fallback } = progress;
    if (fallback === undefined) return following(first, first.fallback, chain);
    const later = first.fallback.slice(first.fallback.indexOf(fallback) + 1);
    return following(await models.resolve(fallback), later, chain);
  };
}

/** A model that writes summaries. Any other model may take over, because the request has the whole transcript. */
export function createSummaryModel(
  { model, fallback, account }: { model: Model; fallback: readonly string[]; account: SummaryAccount },
  { models, recorder, waits, clock, log }: Pick<RunModelDeps, 'models' | 'recorder' | 'waits' | 'clock' | 'log'>,
): SummaryModel {
  let request: ModelRequest | undefined;
  const chain: Chain = {
    models,
    recorder,
    waits,
    clock,
    log,
    fits: () => true,
    isSelfContained: true,
    work: 'writes the summary',
    async takeOver(next) {
      if (request) await account.begin(next, request);
      return {};
    },
  };
  const followed = following(model, fallback, chain);
  return countedModel(followed, {
    begin(asked, sent) {
      request = sent;
      return account.begin(asked, sent);
    },
    end: (spending) => account.end(spending),
  });
}

function following(first: Model, fallback: readonly string[], deps: Chain): Model {
  let active = first;
  let left = fallback;
  const { waits, recorder, clock } = deps;

  const start = (request: ModelRequest, signal: AbortSignal) => {
    const { alias: modelAlias } = active;
    return active.stream(request, signal, {
      hasFallback: left.length > 0 && mayFallBack(request),
      wait: (pause) => waits.take(pause, { modelAlias, recorder, clock, signal }),
    });
  };
  const takeOver = async (next: Successor, error: ProviderError): Promise<void> => {
    const { family } = active;
    await announce({ from: active, to: next.model, error }, deps);
    ({ model: active, left } = next);
    if (!deps.isSelfContained && active.family !== family)
      throw new FamilyChanged('another family takes over', { cause: error });
  };
  /** Begins an answer of the first model that gives one. */
  const begin = async (request: ModelRequest, signal: AbortSignal): Promise<Begun> => {
    try {
      const rest = start(request, signal)[Symbol.asyncIterator]();
      return { first: await rest.next(), rest };
    } catch (error) {
      signal.throwIfAborted();
      const next = isWorthFallback(error) && mayFallBack(request) ? await findNext(active, left, deps) : undefined;
      if (!next || !(error instanceof ProviderError)) throw error;
      await takeOver(next, error);
    }
    return begin(request, signal);
  };
  return {
    get alias() {
      return active.alias;
    },
    get provider() {
      return active.provider;
    },
    get modelId() {
      return active.modelId;
    },
    get contextWindow() {
      return active.contextWindow;
    },
    get maxOutputTokens() {
      return active.maxOutputTokens;
    },
    get price() {
      return active.price;
    },
    get family() {
      return active.family;
    },
    get fallback() {
      return left;
    },
    get writesSummaries() {
      return active.writesSummaries ?? false;
    },
    stream: (request, signal) => (left.length === 0 ? start(request, signal) : opening(() => begin(request, signal))),
  };
}

/** A model of another family takes over, so the conversation needs a new prefix. Ask again with another request. */
export class FamilyChanged extends Error {
  override readonly name = 'FamilyChanged';
}

interface Successor {
  model: Model;
  /** Who follows it. */
  left: readonly string[];
}

interface Begun {
  first: IteratorResult<ModelPart>;
  rest: AsyncIterator<ModelPart>;
}

/** Parts whose source is found with the first one. The others are passed on without a further generator. */
function opening(begin: () => Promise<Begun>): AsyncIterable<ModelPart> {
  let rest: AsyncIterator<ModelPart> | undefined;
  const iterator: AsyncIterator<ModelPart> = {
    async next() {
      if (rest) return rest.next();
      const begun = await begin();
      rest = begun.rest;
      return begun.first;
    },
    return: async (value) => (await rest?.return?.(value)) ?? { done: true, value: undefined },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** The rest of an answer comes from the model that began it. */
const mayFallBack = ({ messages }: ModelRequest): boolean => messages.at(-1)?.role !== 'assistant';

/** Whether another model may answer the same request. */
function isWorthFallback(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.kind === 'over_limit') return false;
  return error.kind !== 'refused' || error.detail === 'no_model' || error.detail === 'no_credit';
}

/** Skips models that are not available, and those that cannot continue the run. */
async function findNext(
  active: Model,
  aliases: readonly string[],
  { models, fits, log }: Chain,
): Promise<Successor | undefined> {
  for (const [index, alias] of aliases.entries()) {
    const model = await models.resolve(alias).catch((err: unknown) => {
      log.warn({ err, alias }, 'a fallback model is not available');
      return undefined;
    });
    if (model && fits(model, active)) return { model, left: aliases.slice(index + 1) };
  }
  return undefined;
}

/** Tells clients, and a restart, which model answers from now on. */
async function announce(
  { from, to, error }: { from: Model; to: Model; error: ProviderError },
  { recorder, work, takeOver }: Chain,
): Promise<void> {
  const message = `${from.alias} cannot answer, so ${to.alias} ${work}. ${error.message}`;
  const step = await takeOver(to);
  await recorder.record({ ...step, events: [{ type: 'info', code: 'model_fallback', level: 'warning', message }] });
}
