import type { ConsentCode, ConsentProblem } from './consent-problem.ts';

/** How a tool server lets people in. */
export interface OAuthSettings {
  /** The rights to ask for. Without any, those that the server names. */
  scopes: readonly string[];
  /** Of a client that was registered by hand; absent: the daemon registers itself. */
  clientId?: string | undefined;
  /** The provider that the client is registered with. */
  issuer?: string | undefined;
  /** `${NAME}` stands for a variable of the daemon. */
  clientSecret?: string | undefined;
}

/** A tool server that each person uses with an account of their own. */
export interface OAuthServer {
  name: string;
  url: string;
  oauth: OAuthSettings;
  /** As in its settings. */
  storedId?: string | undefined;
}

/** Undefined for a server that is used without accounts. */
export const toOAuthServer = (
  name: string,
  { url, oauth, storedId }: { [K in 'url' | 'oauth' | 'storedId']?: OAuthServer[K] | undefined },
): OAuthServer | undefined => (url !== undefined && oauth ? { name, url, oauth, storedId } : undefined);

/** The accounts of people at tool servers, as calls need them. Users are named by their ids; the operator's is empty. */
export interface Accounts {
  /** In whose name calls in this workstream are made now. Undefined: several people take part, so in nobody's. */
  userIn(wsId: string): Promise<string | undefined>;
  /** What to show of a user. */
  nameOf(user: string): string;
  /** Why there is no token for the user; undefined: there is one. Nothing is sent for this. */
  missing(server: OAuthServer, user: string): Promise<ConsentProblem | undefined>;
  /** The token for the next request, renewed if it is about to expire. Rejects with a ConsentProblem. */
  token(server: OAuthServer, user: string): Promise<string>;
  /** The server has refused the token. Resolves when there is another one. Rejects with a ConsentProblem. */
  renew(server: OAuthServer, user: string, refused: string | undefined): Promise<void>;
  /** A call waits for a consent of the user: the pending consents list it from now on. */
  needs(
    server: OAuthServer,
    user: string,
    what: { code: ConsentCode; scopes?: readonly string[] | undefined },
  ): Promise<ConsentProblem>;
  /** Calls back when a user has connected an account to a server, or no longer has one. */
  onChanged(listener: (change: { server: string; user: string; isConnected: boolean }) => void): void;
}
