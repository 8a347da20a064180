import { GatewayError } from '../../../../protocol/errors.ts';
import type { ConsentRefusal } from '../../../../protocol/methods/consents/mcp-consent.ts';

/** A refusal with words for people; none of them come from a provider. */
export function consentRefused(reason: ConsentRefusal, why?: string): GatewayError {
  const { code, message } = REFUSALS[reason];
  return new GatewayError(code, why === undefined ? message : `${message}: ${why}`, { details: { reason } });
}

const REFUSALS: Record<ConsentRefusal, { code: 'UNAUTHORIZED' | 'FORBIDDEN' | 'UNAVAILABLE'; message: string }> = {
  expired: { code: 'UNAUTHORIZED', message: 'This consent has expired or was used already. Begin again.' },
  other_browser: {
    code: 'UNAUTHORIZED',
    message: 'This consent was begun in another browser. Begin again in this one.',
  },
  denied: { code: 'UNAUTHORIZED', message: 'The provider reports that the consent was refused.' },
  changed: { code: 'UNAUTHORIZED', message: 'The tool server is another one now. Begin again.' },
  provider_refused: { code: 'UNAUTHORIZED', message: 'The provider of the tool server refused' },
  provider_unavailable: { code: 'UNAVAILABLE', message: 'No account can be connected to this tool server' },
  provider_unconfirmed: {
    code: 'FORBIDDEN',
    message: 'An administrator has to confirm the provider of this tool server',
  },
  account_disabled: { code: 'FORBIDDEN', message: 'This user is disabled or gone.' },
};
