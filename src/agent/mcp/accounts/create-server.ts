import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import type { ServerLists } from '../catalog/read-lists.ts';
import type { ServerConfig } from '../server-config.ts';
import type { Session, SessionOptions } from '../session.ts';
import { ToolServer } from '../tool-server.ts';
import { type Accounts, toOAuthServer } from './accounts.ts';
import type { UsedAccount } from './token-provider.ts';
import { UserSessions } from './user-sessions.ts';

export interface OpenedServer {
  name: string;
  config: ServerConfig;
  /** With which account; absent: with none. */
  account?: UsedAccount | undefined;
}

interface CreateDeps {
  live: { readonly mcp: { idleMinutes: number } };
  open(server: OpenedServer, options: SessionOptions): Promise<Session>;
  accounts: Accounts;
  clock: Clock;
  log: Log;
}

/** One server for all, or one for each account. It is not started yet. */
export function createServer(
  { name, config }: OpenedServer,
  onLists: (lists: ServerLists) => void,
  { open, live, accounts, clock, log }: CreateDeps,
): ToolServer | UserSessions {
  const create = (account?: UsedAccount) =>
    new ToolServer({
      name,
      open: (options) => open({ name, config, account }, options),
      idleMs: () => live.mcp.idleMinutes * 60_000,
      onLists,
      clock,
      log,
    });
  const server = toOAuthServer(name, config);
  return server
    ? new UserSessions({ server, accounts, create: (user) => create({ server, user, accounts }) })
    : create();
}
