import { GatewayError } from '../../../protocol/errors.ts';
import { warn } from '../../../protocol/notice.ts';
import type { Message, ToolCall } from '../../agent/message.ts';
import type { Model, ModelPart, ModelRequest, Models, Patience, Usage } from '../../agent/providers/model.ts';
import { until } from '../../timing/until.ts';

/** One step of the model in a turn: say, call, wait, or fail. Plain text is content. */
export type Move = string | ModelPart | Promise<unknown> | Error | Waits;

/** The model waits before its next attempt, as the caller wants it. */
type Waits = (patience: Patience | undefined, signal: AbortSignal) => Promise<unknown>;

const USAGE: Usage = { promptTokens: 70, completionTokens: 30, cacheCreationTokens: 0, cacheReadTokens: 0 };

/** A call of the puppet, for `turn`. */
export const calling = (name: string, args: object = {}, id = `call_${name}`): ModelPart => ({
  type: 'tool_call',
  call: { id, name, arguments: JSON.stringify(args) } satisfies ToolCall,
});

/** A promise that never resolves: the model waits until it is stopped. */
export const never = (): Promise<unknown> => new Promise(() => undefined);

/** Models whose turns are scripted by the test; a turn without a script answers `ok`. */
export function puppetModels() {
  const turns: Move[][] = [];
  const requests: ModelRequest[] = [];
  let choose: ((request: ModelRequest) => Move[] | undefined) | undefined;
  const model = (alias: string): Model => ({
    alias,
    provider: 'puppet',
    modelId: alias,
    family: 'puppet',
    fallback: [],
    contextWindow: 100_000,
    async *stream(request, signal, patience) {
      requests.push({ ...request, messages: request.messages.map(asRead) });
      const moves = choose?.(request) ?? turns.shift() ?? ['ok'];
      for (const move of moves) yield* withIds(perform(move, { signal, patience }), request);
      const has = (type: ModelPart['type']) =>
        moves.some((move) => typeof move === 'object' && 'type' in move && move.type === type);
      if (has('finish')) return;
      const calls = has('tool_call');
      yield { type: 'finish', reason: calls ? 'tool_calls' : 'stop', usage: USAGE };
    },
  });
  let reached = Promise.withResolvers<void>();
  const models: Models = {
    untilReached: () => reached.promise,
    async resolve(alias = 'puppet') {
      if (ALIASES.includes(alias)) return model(alias);
      throw new GatewayError('INVALID_REQUEST', `Unknown model '${alias}'. Available models: ${ALIASES.join(', ')}`);
    },
    open: async ({ model: name = 'own' }) => model(`own/${name}`),
    list: () =>
      ALIASES.map((alias) => ({
        alias,
        provider: 'puppet',
        modelId: alias,
        contextWindow: 0,
        isDefault: alias === 'puppet',
      })),
    check: async (alias) => (await models.resolve(alias)).modelId,
    checkCandidate: async ({ model: name = 'own' }) => name,
    discover: async () => [],
    current: () => ({ alias: 'puppet', provider: 'puppet', modelId: 'puppet' }),
    notices: () => [warn('model_unusable', 'a puppet')],
    health: () => ({ status: 'up', circuitState: 'closed' }),
  };
  return {
    models,
    /** The requests it received, in order. */
    requests,
    /** The server of the models answers again. */
    isReached() {
      reached.resolve();
      reached = Promise.withResolvers();
    },
    /** Scripts the next turn without a script. */
    turn(...moves: Move[]) {
      turns.push(moves);
    },
    /** Scripts turns by their requests, where several conversations ask at once; undefined: the next turn. */
    replies(to: (request: ModelRequest) => Move[] | undefined) {
      choose = to;
    },
  };
}

const ALIASES = ['puppet', 'other'];

/** Removes the author of a message, which models do not read. */
function asRead(message: Message): Message {
  if (message.role !== 'user') return message;
  const { trusted: _, ...read } = message;
  return read;
}

/** As models make them, which several conversations may ask at once. */
async function* withIds(
  parts: AsyncIterable<ModelPart>,
  { callIdSuffix = '' }: Pick<ModelRequest, 'callIdSuffix'>,
): AsyncGenerator<ModelPart> {
  for await (const part of parts)
    yield part.type === 'tool_call' ? { ...part, call: { ...part.call, id: `${part.call.id}${callIdSuffix}` } } : part;
}

async function* perform(
  move: Move,
  { signal, patience }: { signal: AbortSignal; patience: Patience | undefined },
): AsyncGenerator<ModelPart> {
  signal.throwIfAborted();
  if (move instanceof Error) throw move;
  if (move instanceof Promise) await until(move, signal);
  else if (typeof move === 'function') await move(patience, signal);
  else yield typeof move === 'string' ? { type: 'content', text: move } : move;
}
