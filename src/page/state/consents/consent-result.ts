import type { ConsentRefusal } from '../../../../protocol/methods/consents/mcp-consent.ts';

/** How connecting an account to a tool server ended, in words of ours. */
export interface ConsentResult {
  isProblem: boolean;
  text: string;
}

/** As tool servers may be called. Anything else in the address was written by somebody else. */
const SERVER_NAME = /^[\w.-]{1,64}$/;

/** The result that the address of the page carries; undefined: the page was opened in another way. */
export function findConsentResult(search: string): ConsentResult | undefined {
  const query = new URLSearchParams(search);
  const server = query.get('mcp_oauth_success');
  if (server !== null) {
    const name = SERVER_NAME.test(server) ? `the tool server “${server}”` : 'a tool server';
    return { isProblem: false, text: `You have consented to use ${name} with your account.` };
  }
  const reason = query.get('mcp_oauth_error');
  if (reason === null) return undefined;
  const why = Object.hasOwn(REFUSALS, reason) ? REFUSALS[reason] : 'Try again.';
  return { isProblem: true, text: `No account was connected to the tool server. ${why}` };
}

const REFUSALS: Readonly<Record<string, string>> = {
  expired: 'This took too long, or was done already. Begin again.',
  other_browser: 'It was begun in another browser. Begin again in this one.',
  denied: 'The provider reports that you refused.',
  changed: 'The address of the tool server has changed meanwhile. Begin again.',
  provider_refused: 'The provider refused. The log of the daemon has the reason.',
  provider_unconfirmed:
    'The tool server names a provider that no administrator has confirmed. The log of the daemon has its name.',
  provider_unavailable: 'The provider cannot be reached, or cannot be used. The log of the daemon has the reason.',
  account_disabled: 'Your user is disabled. Ask an administrator.',
} satisfies Record<ConsentRefusal, string>;
