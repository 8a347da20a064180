import { GatewayError } from '../../../../protocol/errors.ts';
import type { Clock } from '../../../clock.ts';
import { createBotApi } from './bot-api.ts';
import type { BotDeps } from './bots.ts';
import { TELEGRAM_API_ROOT } from './telegram-settings.ts';
import { BotApiError } from './wire/bot-api-error.ts';

const TIMEOUT_MS = 20_000;

/**
 * Asks Telegram which bot a token belongs to: this one, or that of the settings. It receives no messages, so it does not
 * disturb a poll in progress.
 */
export async function checkToken(
  { token, signal }: { token: string | undefined; signal: AbortSignal },
  { settings, fetch, clock }: BotDeps & { clock: Pick<Clock, 'sleep'> },
): Promise<{ account: string; bot: string }> {
  const current = settings();
  const asked = token ?? current?.token;
  if (asked === undefined) throw new GatewayError('NOT_LINKED', 'Telegram is not set up.');
  if (asked === '') throw new GatewayError('NOT_LINKED', 'The environment has no token for the bot.');
  const api = createBotApi({ token: asked, apiRoot: current?.apiRoot ?? TELEGRAM_API_ROOT, fetch, clock });
  try {
    const me = await api.call('getMe', {}, { signal, timeoutMs: TIMEOUT_MS });
    return { account: String(me.id), bot: me.username };
  } catch (error) {
    if (!(error instanceof BotApiError)) throw error;
    if (error.kind === 'unauthorized')
      throw new GatewayError('INVALID_REQUEST', 'Telegram does not accept this token. Ask @BotFather for another.');
    throw new GatewayError('UNAVAILABLE', error.message);
  }
}
