import { tokenEndpoints } from '../../../../protocol/http/accounts/token.ts';
import { bind } from '../../bind.ts';
import { isoOrEmpty } from '../../iso.ts';
import { SCOPES } from './user.ts';

export const tokenRoutes = [
  bind(tokenEndpoints.refresh, 'token.refresh', {
    params: () => ({}),
    reply: ({ token, tokenId, tokenPrefix, scope, expiresAtMs }) => ({
      token,
      token_id: tokenId,
      token_prefix: tokenPrefix,
      scopes: SCOPES[scope],
      expires: isoOrEmpty(expiresAtMs ?? undefined),
    }),
    headers: () => ({ 'Cache-Control': 'no-store' }),
  }),
];
