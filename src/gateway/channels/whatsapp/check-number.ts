import { GatewayError } from '../../../../protocol/errors.ts';
import type { Clock } from '../../../clock.ts';
import { createGraphApi } from './graph-api.ts';
import { GraphError } from './graph-error.ts';
import type { WhatsAppDeps } from './numbers.ts';

const TIMEOUT_MS = 20_000;

/** Asks WhatsApp which telephone number the settings name, with this access token or that of the environment. */
export async function checkNumber(
  { token, signal }: { token: string | undefined; signal: AbortSignal },
  { settings, fetch, clock }: Pick<WhatsAppDeps, 'settings' | 'fetch'> & { clock: Pick<Clock, 'sleep'> },
): Promise<{ account: string; bot: string }> {
  const current = settings();
  if (current === undefined) throw new GatewayError('NOT_LINKED', 'WhatsApp is not set up.');
  const accessToken = token ?? current.accessToken;
  if (accessToken === '') throw new GatewayError('NOT_LINKED', 'The environment has no access token for WhatsApp.');
  const { phoneNumberId, apiRoot } = current;
  const api = createGraphApi({ phoneNumberId, accessToken, apiRoot, fetch, clock });
  try {
    return { account: phoneNumberId, bot: await api.identify({ signal, timeoutMs: TIMEOUT_MS }) };
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    if (error.kind === 'unauthorized' || error.kind === 'rejected')
      throw new GatewayError('INVALID_REQUEST', error.message);
    throw new GatewayError('UNAVAILABLE', error.message);
  }
}
