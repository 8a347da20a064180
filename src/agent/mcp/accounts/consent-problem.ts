/**
 * Why no call can be made in the name of a person. `mcp_consent_required`: the person has not connected an account, or has
 * to do it again. `mcp_account_forbidden`: it is not clear in whose name the call would be.
 */
export type ConsentCode =
  | 'mcp_consent_required'
  | 'mcp_insufficient_scope'
  | 'mcp_token_undecryptable_key_unknown'
  | 'mcp_oauth_url_insecure'
  | 'mcp_refresh_unavailable'
  | 'mcp_account_forbidden';

interface Consent {
  code: ConsentCode;
  server: string;
  /** For people and the model. Nothing of it comes from others. */
  detail: string;
  /** Rights at the server, as it names them. */
  scopes?: readonly string[] | undefined;
  /** Where the person can consent. */
  url?: string | undefined;
}

/** A call in the name of a person cannot be made. Nothing was called. */
export class ConsentProblem extends Error {
  override readonly name = 'ConsentProblem';
  readonly consent: Consent;

  constructor(consent: Consent) {
    super([consent.detail, consent.url].filter(Boolean).join(' '));
    this.consent = consent;
  }
}

/** Which consent is missing for something. Undefined: none, also if it failed for another reason. */
export const problemOf = (done: Promise<unknown>): Promise<ConsentProblem | undefined> =>
  done.then(
    () => undefined,
    (error: unknown) => (error instanceof ConsentProblem ? error : undefined),
  );

/** What the model reads: data, so that a program can tell what is missing. */
export const toEnvelope = ({ consent: { code, server, detail, scopes, url } }: ConsentProblem): string =>
  JSON.stringify({
    error: {
      code,
      server,
      detail,
      ...(scopes && scopes.length > 0 && { scopes_required: scopes }),
      ...(url !== undefined && { consent_url: url }),
    },
  });

const MOST_SCOPES = 50;
const MOST_SCOPE = 200;
/** The characters of a scope (RFC 6749, section 3.3). */
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** The scopes in a text that others wrote. What is no scope is left out. */
export const scopesIn = (text: string | undefined): string[] =>
  [...new Set((text ?? '').split(' '))]
    .filter((scope) => scope.length <= MOST_SCOPE && SCOPE.test(scope))
    .slice(0, MOST_SCOPES);
