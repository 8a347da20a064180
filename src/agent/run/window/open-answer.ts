import type { ModelPart, ModelRequest } from '../../providers/model.ts';
import { FamilyChanged } from '../model/run-model.ts';
import type { RunContext } from '../run-context.ts';
import { type Asking, leaveAttachments, makeRoomAfter, makeRoomEarly } from './make-room.ts';
import { withRemedy } from './remedies.ts';

/** A model that keeps refusing cannot be helped. */
const MOST_TRIES = 4;

/** An answer that has begun, and the request that it answers. */
interface OpenedAnswer {
  request: ModelRequest;
  parts: AsyncIterable<ModelPart>;
}

/**
 * Requests an answer, with a context that fits into the model's window: makes room before it is full, and after the
 * upstream refused it as too long. Rejects with the model's error.
 */
export async function openAnswer(
  run: RunContext,
  { model, budget, toRequest }: Pick<Asking, 'model' | 'budget'> & { toRequest(): Promise<ModelRequest> },
): Promise<OpenedAnswer> {
  await leaveAttachments(run);
  let request = await toRequest();
  if (await makeRoomEarly(run, { model, request, budget })) request = await toRequest();
  for (let tries = 1; ; tries += 1) {
    try {
      return { request, parts: await begin(model.stream(request, run.signal)) };
    } catch (error) {
      if (error instanceof FamilyChanged) {
        request = await toRequest();
        await makeRoomEarly(run, { model, request, budget }); // the window of the model that takes over may be smaller
      } else if (tries >= MOST_TRIES || !(await makeRoomAfter(error, run, { model, request, budget }))) {
        throw withRemedy(error, run, { model, request });
      }
    }
    request = await toRequest();
  }
}

/** Waits for the first part. Rejects if the answer fails before it. */
async function begin(parts: AsyncIterable<ModelPart>): Promise<AsyncIterable<ModelPart>> {
  const iterator = parts[Symbol.asyncIterator]();
  let first: IteratorResult<ModelPart> | undefined = await iterator.next();
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const next = first ?? (await iterator.next());
        first = undefined;
        return next;
      },
      return: async () => iterator.return?.() ?? { done: true, value: undefined },
    }),
  };
}
