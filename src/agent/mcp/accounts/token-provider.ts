import type { AuthProvider } from '@modelcontextprotocol/client';
import type { Accounts, OAuthServer } from './accounts.ts';
import { ConsentProblem, scopesIn } from './consent-problem.ts';

/** The account with which requests to a server are made. */
export interface UsedAccount {
  server: OAuthServer;
  user: string;
  accounts: Accounts;
}

/** The tokens of a user, for the transport of the protocol. Nothing else is given them, so they reach no other address. */
export function createTokenProvider({ server, user, accounts }: UsedAccount) {
  const tokens = new WeakMap<Response, string>();
  let last: string | undefined;
  let isLeaving = false;
  const next = async () => {
    last = await accounts.token(server, user);
    return last;
  };
  const provider: AuthProvider = {
    token: () => (isLeaving ? next().catch(() => last) : next()),
    // Without an answer to compare with, the token counts as refused.
    onUnauthorized: ({ response }) => accounts.renew(server, user, tokens.get(response)),
  };
  return {
    provider,
    get isLeaving(): boolean {
      return isLeaving;
    },
    /** The session ends, perhaps because the account is gone: then its end is told with the token that it used last. */
    leave(): void {
      isLeaving = true;
    },
    /** Remembers with which token a request was sent, because another request may have renewed it since. */
    note(response: Response, headers: HeadersInit | undefined): void {
      const token = /^Bearer (.+)$/.exec(new Headers(headers).get('authorization') ?? '')?.[1];
      if (response.status === 401 && token !== undefined) tokens.set(response, token);
    },
  };
}

/** The missing consent behind an error of a call, which waits for it from now on; undefined: it has another reason. */
export async function toConsentProblem(
  error: unknown,
  { server, user, accounts }: UsedAccount,
): Promise<ConsentProblem | undefined> {
  if (error instanceof ConsentProblem) return accounts.needs(server, user, error.consent);
  const { InsufficientScopeError, UnauthorizedError, SdkHttpError } = await import('@modelcontextprotocol/client');
  if (error instanceof InsufficientScopeError)
    return accounts.needs(server, user, { code: 'mcp_insufficient_scope', scopes: scopesIn(error.requiredScope) });
  if (error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401))
    return accounts.needs(server, user, { code: 'mcp_consent_required' });
  return error instanceof Error && error.cause !== undefined
    ? toConsentProblem(error.cause, { server, user, accounts })
    : undefined;
}
