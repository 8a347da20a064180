import { ProviderError } from '../model.ts';
import { nameOf, type Upstream } from '../provider-error.ts';
import { isAway, type Retrying, withRetries } from './retry.ts';

type Named = Upstream & { alias: string };

/** The error while the circuit of a server is open. It waits like any other attempt to reach the server. */
export function circuitOpen(upstream: Named, why: string | undefined): ProviderError {
  const name = nameOf(upstream);
  const last = why === undefined ? '' : ` The last one: ${why}`;
  const message = `${name} is not asked at the moment, because several requests in a row failed.${last}`;
  return new ProviderError('circuit_open', message, { retryable: true, detail: 'away' });
}

/** Retries; an upstream that stays away is reported with what a person can do, unless another model answers instead. */
export async function askWhileAway<T>(
  upstream: Named,
  attempt: (isAsked: boolean) => Promise<T>,
  retrying: Retrying,
): Promise<T> {
  let tried = 0;
  const count = (isAsked: boolean) => {
    tried += 1;
    return attempt(isAsked);
  };
  try {
    return await withRetries(count, retrying);
  } catch (error) {
    throw isAway(error) && !retrying.patience?.hasFallback ? error.adding(remedyFor(upstream, tried)) : error;
  }
}

function remedyFor({ alias, provider }: Named, tried: number): string {
  const check =
    provider === 'openai-compatible'
      ? 'Check that the server is running and that its address is correct'
      : 'Check the network connection and the status page of the provider';
  return `The model ${alias} was tried ${tried === 1 ? 'once' : `${tried} times`}. ${check}, then try again.`;
}
