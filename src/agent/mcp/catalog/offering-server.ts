import type { Asker, CallAccount } from '../accounts/user-sessions.ts';
import type { CallDeps } from '../call-tool.ts';
import type { Offers } from '../known-tools.ts';
import type { ServerConfig } from '../server-config.ts';
import type { ServerCall, ServerReply } from '../session.ts';
import type { Catalog } from './announced-lists.ts';

/** A server that offers resources or prompts. */
export interface OfferingServer {
  name: string;
  config: ServerConfig;
  server: {
    call(call: ServerCall): Promise<ServerReply>;
    /** What it offers to the asker, as it says now. */
    offers(signal: AbortSignal, asker: Asker): Promise<Catalog>;
    /** In whose name a call would be, or why it cannot be made; absent: no account is used. */
    accountFor?: (wsId: string) => Promise<CallAccount>;
  };
}

export interface CatalogDeps {
  servers(what: keyof Offers): OfferingServer[];
  deps: CallDeps;
}
