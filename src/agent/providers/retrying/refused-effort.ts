import type { Effort } from '../../../../protocol/stream-events.ts';
import { type ModelRequest, ProviderError } from '../model.ts';
import type { Provider } from '../provider.ts';

/** The effort that servers of unknown models are not told. */
export const UNSENT_EFFORT: Effort = 'medium';

/**
 * Many servers refuse a request that names an effort if their model does not reason, each in its own words. A refused request
 * is repeated without it; if that is answered, the effort is not sent to the model again.
 */
export function createEffortGate({ options }: Pick<Provider, 'options'>) {
  const refusing = new Set<string>();
  return async <T>(
    { request, modelId }: { request: ModelRequest; modelId: string },
    ask: (request: ModelRequest) => Promise<T>,
  ): Promise<T> => {
    const without: ModelRequest = { ...request, effort: UNSENT_EFFORT };
    if (refusing.has(modelId)) return ask(without);
    try {
      return await ask(request);
    } catch (error) {
      const isSent = options(request, modelId).reasoning !== undefined;
      const isSuspect = isSent && options(without, modelId).reasoning === undefined && mayBeAboutEffort(error);
      if (!isSuspect) throw error;
      const answer = await ask(without);
      refusing.add(modelId);
      return answer;
    }
  };
}

function mayBeAboutEffort(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.kind !== 'refused' || error.detail !== undefined) return false;
  return error.refusal === undefined || error.refusal.about === 'schema';
}
