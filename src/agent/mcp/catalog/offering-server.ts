import type { CallDeps } from '../call-tool.ts';
import type { Offers } from '../known-tools.ts';
import type { ServerConfig } from '../server-config.ts';
import type { ToolServer } from '../tool-server.ts';

/** A server that offers resources or prompts. */
export interface OfferingServer {
  name: string;
  config: ServerConfig;
  server: Pick<ToolServer, 'call' | 'refresh' | 'catalog' | 'callsUnderWay'>;
}

export interface CatalogDeps {
  servers(what: keyof Offers): OfferingServer[];
  deps: CallDeps;
}
