import type { GatewayDeps } from '../gateway-deps.ts';
import { auditMethods } from '../methods/accounts/audit.ts';
import { authMethods } from '../methods/accounts/auth.ts';
import { oidcMethods } from '../methods/accounts/oidc.ts';
import { orgMethods } from '../methods/accounts/org.ts';
import { roleMethods } from '../methods/accounts/role.ts';
import { tokenMethods } from '../methods/accounts/token.ts';
import { userMethods } from '../methods/accounts/user.ts';
import { secretsMethods } from '../methods/admin/secrets.ts';
import { mcpConsentMethods } from '../methods/consents/mcp-consent.ts';

/** Who may call, and the record of what they did. */
export const accountNouns = (auth: GatewayDeps['auth'], ids: GatewayDeps['ids']) => ({
  audit: { methods: auditMethods(auth.trail) },
  auth: { methods: authMethods(auth) },
  mcpConsent: {
    methods: mcpConsentMethods(auth.consents),
    recover: () => auth.consents.recover(),
    close: () => auth.consents.close(),
  },
  oidc: { methods: oidcMethods(auth) },
  org: { methods: orgMethods(auth.orgs) },
  role: { methods: roleMethods(auth) },
  secrets: { methods: secretsMethods({ vault: auth.vault, isLoginSecretChosen: auth.isLoginSecretChosen, ids }) },
  token: { methods: tokenMethods(auth) },
  user: { methods: userMethods(auth) },
});
