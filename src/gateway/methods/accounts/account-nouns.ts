import type { GatewayDeps } from '../../gateway-deps.ts';
import { secretsMethods } from '../admin/secrets.ts';
import { auditMethods } from './audit.ts';
import { authMethods } from './auth.ts';
import { oidcMethods } from './oidc.ts';
import { orgMethods } from './org.ts';
import { roleMethods } from './role.ts';
import { tokenMethods } from './token.ts';
import { userMethods } from './user.ts';

/** Who may call, and the record of what they did. */
export const accountNouns = (auth: GatewayDeps['auth'], ids: GatewayDeps['ids']) => ({
  audit: { methods: auditMethods(auth.trail) },
  auth: { methods: authMethods(auth) },
  oidc: { methods: oidcMethods(auth) },
  org: { methods: orgMethods(auth.orgs) },
  role: { methods: roleMethods(auth) },
  secrets: { methods: secretsMethods({ vault: auth.vault, isLoginSecretChosen: auth.isLoginSecretChosen, ids }) },
  token: { methods: tokenMethods(auth) },
  user: { methods: userMethods(auth) },
});
