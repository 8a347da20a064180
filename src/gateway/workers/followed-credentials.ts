import type { Authenticator } from '../auth/authenticator.ts';
import { type CredentialDeps, openCredentials } from '../auth/open-credentials.ts';

type Opened = Awaited<ReturnType<typeof openCredentials>>;

/** The credentials and users of a worker, which the active daemon changes. Without `reload`, they are those of this daemon itself. */
export interface FollowedCredentials {
  authenticator: Authenticator;
  reload?(): Promise<void>;
}

export function followCredentials({ authenticator: first, users }: Opened, deps: CredentialDeps): FollowedCredentials {
  let latest = first;
  return {
    authenticator: {
      enabled: first.enabled,
      authenticate: (token, via) => latest.authenticate(token, via),
      endOf: (principalId) => latest.endOf(principalId),
      viewerOf: (principalId) => latest.viewerOf(principalId),
    },
    async reload() {
      const opened = await openCredentials(deps);
      latest = opened.authenticator;
      users.become(opened.users);
    },
  };
}
