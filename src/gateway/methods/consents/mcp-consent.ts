import { GatewayError } from '../../../../protocol/errors.ts';
import type { mcpConsentContracts } from '../../../../protocol/methods/consents/mcp-consent.ts';
import { SERVER_NAME } from '../../../agent/mcp/tool-name.ts';
import type { Call, Handlers } from '../../call.ts';
import type { Consents } from '../../mcp/oauth/consents.ts';

export type ConsentMethodDeps = Pick<
  Consents,
  'begin' | 'finish' | 'list' | 'servers' | 'remove' | 'pending' | 'dismiss' | 'revokeAll'
>;

export const mcpConsentMethods = (consents: ConsentMethodDeps): Handlers<keyof typeof mcpConsentContracts> => ({
  'mcp.consent.begin': async ({ server, scopes = [] }, call) => {
    const { browser, ...begun } = await consents.begin(userOf(call), { server, scopes });
    return { ...begun, pending: browser };
  },
  'mcp.consent.finish': async ({ pending = '', state, code, iss, error }, { audited }) => {
    const { server } = await consents.finish({ browser: pending, state, code, iss, error }, (done) =>
      audited({ id: done.server, userId: done.user, scopes: done.scopes.join(' ') }),
    );
    return { server };
  },
  'mcp.consent.list': async (_, call) => ({
    consents: await consents.list(userOf(call)),
    servers: consents.servers(),
  }),
  'mcp.consent.remove': async ({ server }, call) => {
    if (!(await consents.remove(userOf(call), server, call.audited())))
      throw new GatewayError('NOT_FOUND', `No account is connected to ${server}`);
    return { status: 'ok' };
  },
  'mcp.consent.pending': async (_, call) => {
    const pending = await consents.pending(userOf(call));
    return { isUsed: pending !== undefined, pending: pending ?? [] };
  },
  'mcp.consent.dismiss': async ({ server }, call) => {
    await consents.dismiss(userOf(call), server);
    return { status: 'ok' };
  },
  'mcp.consent.revoke': async ({ server }, { audited }) => {
    if (!SERVER_NAME.test(server)) throw new GatewayError('INVALID_REQUEST', 'invalid server name');
    return consents.revokeAll(server, ({ accounts }) => audited({ accounts }));
  },
});

/** The operator has no user. */
const userOf = ({ principal }: Pick<Call, 'principal'>): string => principal?.userId ?? '';
