import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

/** Calls that only service tokens make about themselves (HTTP.md, "Calls from other machines"). */
export const tokenEndpoints = {
  refresh: endpoint({
    verb: 'post',
    path: '/v1/api/_internal/token-refresh',
    summary:
      'Give the service token of the caller a new secret that lasts another hour. Only this answer ever contains it.',
    scope: 'service',
    request: () => z.object({}),
    reply: () =>
      z.object({
        token: z.string(),
        token_id: z.string(),
        token_prefix: z.string(),
        /** Comma-separated. */
        scopes: z.string(),
        expires: z.string(),
      }),
    errors: { 401: 'Unauthorized: missing or invalid token', 403: "Forbidden: token lacks 'service' scope" },
  }),
};
