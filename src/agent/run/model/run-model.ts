import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { type Model, type ModelPart, type ModelRequest, type Models, ProviderError } from '../../providers/model.ts';
import type { Progress } from '../journal.ts';
import type { Recorder } from '../recorder.ts';
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

/**
 * The model of one run. Its waits are shown to clients. If it cannot answer, the next of its `fallback` answers for the
 * rest of the run: any model at the run's first request, later only one of the same family, because others do not
 * understand the reasoning in the turn. The first request to another family rejects with `FamilyChanged`.
 */
export function createRunModel(deps: RunModelDeps): () => Promise<Model> {
  const { models, chosen, progress } = deps;
  return async () => {
    const first = await models.resolve(chosen());
    const { fallback } = progress;
    if (fallback === undefined) return following(first, first.fallback, deps);
    const later = first.fallback.slice(first.fallback.indexOf(fallback) + 1);
    return following(await models.resolve(fallback), later, deps);
  };
}

function following(first: Model, fallback: readonly string[], deps: RunModelDeps): Model {
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
    if (active.family !== family) throw new FamilyChanged('another family takes over', { cause: error });
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
  { models, progress, log }: RunModelDeps,
): Promise<Successor | undefined> {
  for (const [index, alias] of aliases.entries()) {
    const model = await models.resolve(alias).catch((err: unknown) => {
      log.warn({ err, alias }, 'a fallback model is not available');
      return undefined;
    });
    const isFirstRequest = progress.turns <= 1;
    if (model && (isFirstRequest || model.family === active.family)) return { model, left: aliases.slice(index + 1) };
  }
  return undefined;
}

/** Tells clients, and a restart, which model answers from now on. */
function announce(
  { from, to, error }: { from: Model; to: Model; error: ProviderError },
  { recorder }: Pick<RunModelDeps, 'recorder'>,
): Promise<void> {
  const message = `${from.alias} cannot answer, so ${to.alias} takes over for this run. ${error.message}`;
  return recorder.record({
    events: [{ type: 'info', code: 'model_fallback', level: 'warning', message }],
    journal: [{ kind: 'fell_back', model: to.alias }],
  });
}
